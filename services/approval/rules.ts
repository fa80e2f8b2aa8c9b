// The rules that name the calls which wait for a person. An operator writes the rules. A model
// writes the arguments, and nothing in them is trusted.
//
// A call waits if any rule matches. A rule that cannot be evaluated on a call's
// arguments matches it (R6).
// Schemas and patterns have the bounds of tool schemas (compiled-schema.ts). A
// rule's schema is also strict: an unknown keyword is a mistake of the operator.

import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { valueAt } from '../../shared/contract/arguments/argument-path.ts'
import {
  type BoundedPattern,
  boundedPatterns,
} from '../../shared/contract/arguments/bounded-pattern.ts'
import { compiledSchema } from '../../shared/contract/arguments/compiled-schema.ts'
import type { JsonObject } from '../../shared/contract/guard/guard.ts'
import { limits } from '../../shared/contract/limits.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { keyFault } from '../../shared/runtime/guards/key-fault.ts'
import { matchesPattern } from '../../shared/runtime/guards/tool-pattern.ts'

export type ApprovalRule = {
  /** For people: the reason why such a call waits. */
  name: string
  /** Patterns of tool names. */
  tools: string[]
  /** JSON Schema 2020-12 of the arguments for which a call waits. */
  arguments?: JsonObject
  /**
   * A call waits if the text at `path` (a name or a JSON Pointer) matches, as `pattern` in a schema
   * does. A value that is no text is matched as JSON.
   */
  pattern?: { path: string; matches: string }
  /**
   * The other calls of the response: `wait` (default) until the call is decided and has its result,
   * or `run` next to it.
   */
  others?: 'wait' | 'run'
  /**
   * `requested`: a call waits only if a guard requests approval. The rule then has no condition,
   * because the guard decides. Default `always`.
   */
  when?: 'always' | 'requested'
}

/**
 * A rule with both parts matches where both match. A rule with neither matches every call of its
 * tools.
 */
export type CompiledRule = {
  name: string
  tools: string[]
  /** Only a guard's request makes a call wait. */
  isOnRequest: boolean
  matches(args: JsonObject): boolean
}

/** The rules of a registration, as a round carries them. Undefined: they cannot be used. */
export function rulesIn(text: string): CompiledRule[] | undefined {
  const known = compiledTexts.get(text)
  if (known !== undefined) return known.rules
  const compiled = { rules: compiledOf(text) }
  if (compiledTexts.size >= compiledTextsMax) compiledTexts.clear()
  compiledTexts.set(text, compiled)
  return compiled.rules
}

/**
 * A cache of a pure function: its content changes nothing but time. Rules change seldom, and rounds
 * with older rules end.
 */
const compiledTexts = new Map<string, { rules: CompiledRule[] | undefined }>()
const compiledTextsMax = 8

function compiledOf(text: string): CompiledRule[] | undefined {
  try {
    return compiledRules(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Throws a WeirError (settings.invalid) for a rule that cannot be used. */
export function compiledRules(rules: readonly ApprovalRule[]): CompiledRule[] {
  if (!Array.isArray(rules) || rules.length === 0 || rules.length > limits.approvalRulesMax)
    throw invalid('rules', `there must be a list of 1 to ${limits.approvalRulesMax}`)
  return rules.map((rule: ApprovalRule, i): CompiledRule => {
    const where = `rules[${i}]`
    if (!isObject(rule)) throw invalid(where, 'it is no object')
    refuseOtherKeys(rule, ['name', 'tools', 'arguments', 'pattern', 'others', 'when'], where)
    if (typeof rule.name !== 'string' || rule.name === '') throw invalid(where, 'it has no name')
    if (
      !Array.isArray(rule.tools) ||
      rule.tools.length === 0 ||
      !rule.tools.every((pattern) => typeof pattern === 'string')
    )
      throw invalid(where, 'it names no tools')
    if (rule.others !== undefined && !['wait', 'run'].includes(rule.others))
      throw invalid(where, 'its key others is neither wait nor run')
    if (rule.when !== undefined && !['always', 'requested'].includes(rule.when))
      throw invalid(where, 'its key when is neither always nor requested')
    const isOnRequest = rule.when === 'requested'
    if (isOnRequest && (rule.arguments !== undefined || rule.pattern !== undefined))
      throw invalid(
        where,
        'it has when: requested and a condition, but the guard that requests approval decides',
      )
    const schema = rule.arguments === undefined ? undefined : schemaMatcher(rule.arguments, where)
    const pattern = rule.pattern === undefined ? undefined : patternMatcher(rule.pattern, where)
    const parts = [schema, pattern].filter((part) => part !== undefined)
    return {
      name: rule.name,
      tools: rule.tools,
      isOnRequest,
      matches: (args) => !isOnRequest && parts.every((part) => inDoubtTrue(() => part(args))),
    }
  })
}

/**
 * The first rule that makes the call wait. Undefined: none. Undefined arguments could not be read,
 * so each rule of the tool matches.
 */
export function ruleFor(
  { tool, arguments: args }: { tool: string; arguments: JsonObject | undefined },
  rules: readonly CompiledRule[],
): CompiledRule | undefined {
  return rules.find(
    (rule) =>
      rule.tools.some((pattern) => matchesPattern(pattern, tool)) &&
      (args === undefined ? !rule.isOnRequest : rule.matches(args)),
  )
}

function inDoubtTrue(evaluate: () => boolean): boolean {
  try {
    return evaluate()
  } catch {
    return true
  }
}

function schemaMatcher(schema: JsonObject, where: string): (args: JsonObject) => boolean {
  if (!isObject(schema)) throw invalid(where, 'its arguments are no JSON Schema in an object')
  const fault = strictFault(schema)
  if (fault !== undefined) throw invalid(where, `its JSON Schema cannot be used: ${fault}`)
  const compiled = compiledSchema(JSON.stringify(schema))
  if (compiled.kind === 'unusable')
    throw invalid(where, `its JSON Schema cannot be used: ${compiled.reason}`)
  // in doubt it matches
  return (args) => compiled.judge(args).kind !== 'invalid'
}

/** The fault that a strict reader finds. Calls are never judged by this compiled schema. */
function strictFault(schema: JsonObject): string | undefined {
  // A new instance for each schema, because Ajv remembers every $id.
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    logger: false,
    code: { regExp: boundedPatterns() },
  })
  addFormats.default(ajv, { mode: 'fast', formats: ['date', 'date-time', 'time', 'ipv4', 'uuid'] })
  try {
    ajv.compile({ ...schema })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function patternMatcher(
  pattern: NonNullable<ApprovalRule['pattern']>,
  where: string,
): (args: JsonObject) => boolean {
  if (!isObject(pattern))
    throw invalid(where, 'its pattern is no object with the keys path and matches')
  refuseOtherKeys(pattern, ['path', 'matches'], `${where}.pattern`)
  const { path, matches } = pattern
  if (typeof path !== 'string' || path === '' || typeof matches !== 'string')
    throw invalid(where, 'its pattern needs the keys path and matches, both texts')
  let compiled: BoundedPattern
  try {
    compiled = boundedPatterns()(matches)
  } catch (cause) {
    throw invalid(
      where,
      `its pattern cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  }
  return (args) => {
    const value = valueAt(args, path)
    return (
      value !== undefined &&
      compiled.test(typeof value === 'string' ? value : JSON.stringify(value))
    )
  }
}

function refuseOtherKeys(value: object, known: string[], where: string): void {
  const unknown = keyFault(value, known)
  if (unknown !== undefined) throw invalid(where, `it has ${unknown}`)
}

function invalid(where: string, why: string): WeirError {
  return new WeirError('settings.invalid', `the approval guard's ${where} cannot be used: ${why}`)
}
