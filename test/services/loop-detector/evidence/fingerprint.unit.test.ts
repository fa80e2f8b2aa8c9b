// The canonical form of arguments and its keys, against vectors from elsewhere: RFC 8785's own
// examples, and sha-256 by another implementation.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  type Domain,
  fingerprint,
} from '../../../../services/loop-detector/evidence/fingerprint.ts'
import { readArguments } from '../../../../shared/contract/identity/arguments.ts'

type Vectors = {
  arguments: { name: string; raw: string; canonical: string; key: string }[]
  keys: { domain: Domain; parts: string[]; key: string }[]
  numbers: { bits: string; canonical: string }[]
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/fingerprints.json', import.meta.url), 'utf8'),
)
const canonical = (raw: string) => readArguments(raw).canonical

describe('arguments', () => {
  it.each(vectors.arguments.map((vector) => [vector.name, vector] as const))(
    'are canonical and have a known key: %s',
    (_, vector) => {
      expect(canonical(vector.raw)).toBe(vector.canonical)
      expect(fingerprint('arguments', 't', vector.canonical)).toBe(vector.key)
    },
  )

  it.each(vectors.numbers)(
    'have numbers in the form of RFC 8785: $canonical',
    ({ bits, canonical: expected }) => {
      const number = Buffer.from(bits, 'hex').readDoubleBE()
      // Its shortest spelling in JSON, and one with extra digits.
      for (const raw of [JSON.stringify(number), number.toExponential(17)])
        expect(canonical(`{"n":${raw}}`)).toBe(`{"n":${expected}}`)
    },
  )

  it('have the form of RFC 8785 if no member is empty', () => {
    const text = fc.string({ unit: 'binary', minLength: 1 }).filter((value) => !/\s/.test(value))
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value')),
      object: fc.dictionary(
        text.filter((key) => !/(?:path|file|filename|dir|directory|folder|cwd)$/i.test(key)),
        tie('value'),
        { minKeys: 1 },
      ),
    })).object
    fc.assert(
      fc.property(value, (object) =>
        expect(canonical(JSON.stringify(object))).toBe(rfc8785(object)),
      ),
      { numRuns: 300 },
    )
  })

  it('in canonical form do not change', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }))
    fc.assert(
      fc.property(object, (value) => {
        const once = canonical(JSON.stringify(value))
        expect(canonical(once)).toBe(once)
      }),
      { numRuns: 300 },
    )
  })
})

describe('keys', () => {
  it.each(vectors.keys)(
    'equal those of other implementations: $domain of $parts',
    ({ domain, parts, key }) => {
      expect(fingerprint(domain, ...parts)).toBe(key)
    },
  )

  it('differ by domain, and by the borders of their parts', () => {
    const keys = [
      fingerprint('arguments', 'a', 'b'),
      fingerprint('result', 'a', 'b'),
      fingerprint('arguments', 'ab'),
      fingerprint('arguments', 'a', 'b', ''),
      fingerprint('arguments', 'a","b'),
    ]
    expect(new Set(keys).size).toBe(keys.length)
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
  })
})

/** Like appendix A of the RFC, for values without omitted members. */
function rfc8785(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(rfc8785).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${rfc8785((value as Record<string, unknown>)[key])}`).join(',')}}`
}
