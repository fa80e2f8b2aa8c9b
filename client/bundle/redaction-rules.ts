// The rules of `weir export --redact FILE`: YAML or JSON, {"rules": [...]}. Each value that a rule
// finds is replaced in the whole bundle.

import { parse } from 'yaml'
import { regExpPattern, type ValuePattern } from '../../shared/contract/redaction/value-pattern.ts'
import { usageError, type WeirError } from '../../shared/lib/errors.ts'
import {
  type RedactionPlace,
  type RedactionRule,
  redactionPlaces,
} from '../../shared/runtime/redaction/redaction-rule.ts'
import { nearestName } from '../../shared/settings/nearest-name.ts'
import { readText } from '../../shared/settings/text-file.ts'

const keys = ['name', 'pattern', 'pointer', 'in', 'tool', 'replace']
const fileBytesMax = 1024 * 1024

/** Throws `usage` with the rule and the accepted values. */
export function readRedactionRules(file: string): RedactionRule[] {
  const content = readText(file, fileBytesMax)
  if ('fault' in content) throw bad(file, content.fault)
  const rules = listIn(file, content.text).map((rule, at) => ruleIn(rule, `${file}: rules[${at}]`))
  if (rules.length === 0) throw bad(file, 'has no rules: nothing would be replaced')
  return rules
}

function listIn(file: string, text: string): unknown[] {
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    throw bad(file, `is no YAML and no JSON: ${(error as Error).message.split('\n')[0]}`)
  }
  const rules =
    typeof value === 'object' && value !== null ? (value as { rules?: unknown }).rules : undefined
  if (!Array.isArray(rules))
    throw bad(file, 'has no list rules; must be {"rules": [{"name", "pattern" or "pointer"}]}')
  return rules
}

function ruleIn(value: unknown, where: string): RedactionRule {
  if (typeof value !== 'object' || value === null) throw bad(where, 'is not an object')
  const rule = value as Record<string, unknown>
  for (const key of Object.keys(rule))
    if (!keys.includes(key))
      throw bad(
        where,
        `has a key ${key}; did you mean ${nearestName(key, keys) ?? keys.join(', ')}?`,
      )
  const { name, pattern, pointer, tool, replace = 'pseudonym' } = rule
  if (typeof name !== 'string' || !/^[a-z0-9-]{1,40}$/.test(name))
    throw bad(where, 'needs a name of 1 to 40 of a-z, 0-9 and -')
  if ((pattern === undefined) === (pointer === undefined))
    throw bad(where, 'needs either a pattern or a pointer')
  if (replace !== 'pseudonym' && replace !== 'length')
    throw bad(`${where}.replace`, 'must be pseudonym or length')
  if (tool !== undefined && typeof tool !== 'string')
    throw bad(`${where}.tool`, 'must be a name of a tool, with * for any characters')
  return {
    name,
    pattern: patternIn(pattern, where),
    pointer: pointerIn(pointer, where),
    in: placesIn(rule.in, where),
    tool,
    replace,
  }
}

function patternIn(pattern: unknown, where: string): ValuePattern | undefined {
  if (pattern === undefined) return undefined
  try {
    return regExpPattern(new RegExp(String(pattern), 'gu'))
  } catch (error) {
    throw bad(`${where}.pattern`, `is no regular expression: ${(error as Error).message}`)
  }
}

function pointerIn(pointer: unknown, where: string): string[] | undefined {
  if (pointer === undefined) return undefined
  if (typeof pointer !== 'string' || !pointer.startsWith('/'))
    throw bad(`${where}.pointer`, 'must be a JSON pointer, such as /customer/name')
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function placesIn(given: unknown, where: string): ReadonlySet<RedactionPlace> | undefined {
  if (given === undefined) return undefined
  const list = Array.isArray(given) ? given : [given]
  const unknown = list.find((one) => !redactionPlaces.includes(one as RedactionPlace))
  if (unknown !== undefined)
    throw bad(`${where}.in`, `is ${String(unknown)}; must be of ${redactionPlaces.join(', ')}`)
  return new Set(list as RedactionPlace[])
}

function bad(where: string, text: string): WeirError {
  return usageError(`--redact ${where} ${text}`)
}
