// The values that a redaction found, and their replacements.

import { createHmac, randomBytes } from 'node:crypto'
import { regExpPattern, valuesIn } from '../../contract/redaction/value-pattern.ts'
import { WeirError } from '../../lib/errors.ts'
import { gatherKnownValues, type KnownValues } from './known-values.ts'
import { isEverywhere, type RedactionRule } from './redaction-rule.ts'

export type Replacements = ReturnType<typeof createReplacements>

/** Well below Node's default heap, also at two bytes for a character. */
const knownBytesMax = 512 * 1024 * 1024

export function createReplacements(
  rules: readonly RedactionRule[],
  { secret, bytesMax = knownBytesMax }: { secret?: Uint8Array; bytesMax?: number },
) {
  let key = secret
  const known = gatherKnownValues()
  /** Of the patterns for all places, which find a value also where it is not known. */
  const matched = gatherKnownValues()
  const shape = regExpPattern(new RegExp(shapeSource(rules), 'gu'))
  const made = new Set<string>()

  /** The key is drawn at the first use: a reducer, which replaces by words only, draws none (R2). */
  function digest(value: string): string {
    key ??= randomBytes(32)
    return createHmac('sha256', key).update(value).digest('hex')
  }

  /** Replaces the digest of an approval, which is made of the arguments. */
  function ofId(id: string): string {
    return digest(id).replace(/^(.{4})(.{4})(.{4}).*$/s, '$1-$2-$3')
  }

  function of(rule: RedactionRule, value: string): string {
    const { name, replace } = rule
    if (value === '') return ''
    if (known.bytes + matched.bytes + made.size * 100 > bytesMax) throw tooMuch(rule)
    if (replace === 'length')
      return 'x'.repeat(2 ** Math.ceil(Math.log2(Math.max(4, value.length))))
    const word = replace === 'word' ? `[${name}]` : `${name}-${digest(value).slice(0, 12)}`
    made.add(word)
    return word
  }

  function inText(values: KnownValues, text: string, isCut: boolean): string {
    let left = ''
    let from = 0
    for (const { text: found, index } of made.size === 0 ? [] : valuesIn(text, shape))
      if (made.has(found)) {
        left += values.replacedIn(text.slice(from, index), false) + found
        from = index + found.length
      }
    return left + values.replacedIn(text.slice(from), isCut)
  }

  return {
    /** Matches replacements, and texts that only resemble one. */
    shape,
    has: (word: string) => made.has(word),
    of,
    /** From now on the value is replaced in all its spellings. */
    learn(rule: RedactionRule, value: string): void {
      if (value.trim() === '') return
      const replacement = of(rule, value)
      const values = isEverywhere(rule) ? matched : known
      for (const spelling of spellingsOf(value)) values.add(spelling, replacement)
    },
    learnId: (id: string) => known.add(id, ofId(id)),
    /** Before the patterns, which could match a piece. `isCut`: the text is truncated at its end. */
    before: (text: string, isCut: boolean) => matched.respelledIn(inText(known, text, isCut)),
    /** After the patterns: values that a pattern finds in another context only, or truncated. */
    after: (text: string, isCut: boolean) => inText(matched, text, isCut),
    digest,
    ofId,
  }
}

function tooMuch({ name }: RedactionRule): WeirError {
  return new WeirError(
    'usage',
    `--redact: the rule ${name} finds too many values to keep in memory. Narrow the rule, or export less at once (--conversation, --since, --until)`,
  )
}

/**
 * Matches replacements. JSON strings are redacted twice, and no replacement may change again. A rule
 * of a record can have any name.
 */
function shapeSource(rules: readonly RedactionRule[]): string {
  const names = rules
    .map(({ name }) => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join('|')
  return String.raw`(?:${names})-[0-9a-f]{12}|\[(?:${names})\]`
}

/** All spellings of a value: plain, in JSON, in JSON within JSON, and in a URL. */
function spellingsOf(value: string): Set<string> {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
  const once = inJson(value)
  const inAddress = encodeURIComponent(value.toWellFormed())
  return new Set([
    value,
    once,
    inJson(once),
    inJson(inJson(once)),
    inAddress,
    inAddress.replaceAll('%20', '+'),
  ])
}
