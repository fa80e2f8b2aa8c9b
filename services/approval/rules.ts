// Which calls wait for a person. Rules are an operator's; arguments are a model's and trusted in nothing.
//
// A1. A call waits if any rule matches. A rule that cannot be evaluated on a call's arguments matches it (R6).
// A2. Patterns are matched by RE2, in time that grows with the text only; a pattern of RE2's syntax has no look-around and no back-references.

import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { RE2JS } from 're2js'
import { WeirError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/guard.ts'
import { valueAt } from '../../shared/guards/argument-path.ts'
import { matchesPattern } from '../../shared/guards/tool-pattern.ts'
import { limits } from '../../shared/limits.ts'

export type ApprovalRule = {
  /** For people: why such a call waits. */
  name: string
  /** Patterns of tool names. */
  tools: string[]
  /** JSON Schema 2020-12 of the arguments for which a call waits. */
  arguments?: JsonObject
  /** Waits if the text at `path` (a name or a JSON Pointer) matches; a value that is no text is matched as JSON. Anchored only by ^ and $. */
  pattern?: { path: string; matches: string }
}

/** A rule with both parts matches where both do; with neither, every call of its tools. */
export type CompiledRule = { name: string; tools: string[]; matches(args: JsonObject): boolean }

/** The rules of a registration, as they ride in a round; undefined: they cannot be used. */
export function rulesIn(text: string): CompiledRule[] | undefined {
  const known = compiledTexts.get(text)
  if (known !== undefined) return known.rules
  const compiled = { rules: compiledOf(text) }
  if (compiledTexts.size >= compiledTextsMax) compiledTexts.clear()
  compiledTexts.set(text, compiled)
  return compiled.rules
}

/** A cache of a pure function: what is in it changes nothing but time. Rules change seldom, and rounds under the last ones end. */
const compiledTexts = new Map<string, { rules: CompiledRule[] | undefined }>()
const compiledTextsMax = 8

function compiledOf(text: string): CompiledRule[] | undefined {
  try {
    return compiledRules(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Throws a WeirError (settings.invalid) for a rule that it cannot use. */
export function compiledRules(rules: readonly ApprovalRule[]): CompiledRule[] {
  if (!Array.isArray(rules) || rules.length === 0 || rules.length > limits.approvalRulesMax)
    throw invalid('rules', `there must be a list of 1 to ${limits.approvalRulesMax}`)
  return rules.map((rule: ApprovalRule, i) => {
    const where = `rules[${i}]`
    if (typeof rule !== 'object' || rule === null) throw invalid(where, 'it is no object')
    const unknown = Object.keys(rule).find((key) => !['name', 'tools', 'arguments', 'pattern'].includes(key))
    if (unknown !== undefined) throw invalid(where, `it has a key ${JSON.stringify(unknown.slice(0, 80))} that no rule has`)
    if (typeof rule.name !== 'string' || rule.name === '') throw invalid(where, 'it has no name')
    if (!Array.isArray(rule.tools) || rule.tools.length === 0 || !rule.tools.every((pattern) => typeof pattern === 'string'))
      throw invalid(where, 'it names no tools')
    const schema = rule.arguments && compiledSchema(rule.arguments, where)
    const pattern = rule.pattern && compiledPattern(rule.pattern, where)
    const parts = [schema, pattern].filter((part) => part !== undefined)
    return { name: rule.name, tools: rule.tools, matches: (args) => parts.every((part) => inDoubtTrue(() => part(args))) }
  })
}

/** The first rule for which a call waits; undefined: it need not. Arguments that are undefined could not be read, and each rule of the tool matches. */
export function ruleFor(
  { tool, arguments: args }: { tool: string; arguments: JsonObject | undefined },
  rules: readonly CompiledRule[],
): CompiledRule | undefined {
  return rules.find((rule) => rule.tools.some((pattern) => matchesPattern(pattern, tool)) && (args === undefined || rule.matches(args)))
}

function inDoubtTrue(evaluate: () => boolean): boolean {
  try {
    return evaluate()
  } catch {
    return true
  }
}

function compiledSchema(schema: JsonObject, where: string): (args: JsonObject) => boolean {
  // An instance each: it remembers every $id that it has seen.
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    ownProperties: true,
    logger: false,
    code: { regExp: linear },
  })
  addFormats.default(ajv, { mode: 'fast', formats: ['date', 'date-time', 'time', 'ipv4', 'uuid'] })
  let validate: ValidateFunction
  try {
    validate = ajv.compile({ ...schema })
  } catch (cause) {
    throw invalid(where, `its JSON Schema cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  if ('$async' in schema) throw invalid(where, '$async is not supported')
  return (args) => validate(args) === true
}

/** Ajv asks for patterns by this, and takes two with the same toString for one. `code` is only for validators that are written to a file. */
const linear = Object.assign((pattern: string, _flags: string) => ({ ...matcher(pattern), toString: () => pattern }), { code: 'unused' })

function matcher(pattern: string): { test(text: string): boolean } {
  const compiled = RE2JS.compile(pattern)
  return {
    test(text) {
      if (text.length > limits.patternTextMax) throw new RangeError('the text is too long to be matched')
      return compiled.matcher(text).find()
    },
  }
}

function compiledPattern({ path, matches }: NonNullable<ApprovalRule['pattern']>, where: string): (args: JsonObject) => boolean {
  if (typeof path !== 'string' || path === '' || typeof matches !== 'string')
    throw invalid(where, 'its pattern needs a path and what it matches')
  let compiled: ReturnType<typeof matcher>
  try {
    compiled = matcher(matches)
  } catch (cause) {
    throw invalid(
      where,
      `its pattern ${JSON.stringify(matches).slice(0, 200)} is none of RE2: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  }
  return (args) => {
    const value = valueAt(args, path)
    return value !== undefined && compiled.test(typeof value === 'string' ? value : JSON.stringify(value))
  }
}

function invalid(where: string, why: string): WeirError {
  return new WeirError('settings.invalid', `the approval guard's ${where} cannot be used: ${why}. Correct it and set the rules again.`)
}
