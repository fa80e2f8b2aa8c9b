// Every front computes the same keys. The vectors are for fronts in other languages.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { hashOfKey, roundKey, wordsHash } from '../../../shared/transcript/round-key.ts'

type Vector = {
  name: string
  response: { text: string; calls: { id: string; name: string; arguments: string }[] }
  key: string
}

const { vectors } = JSON.parse(
  readFileSync(new URL('../../vectors/round-keys.json', import.meta.url), 'utf8'),
) as { vectors: Vector[] }
const keyOf = (name: string) => vectors.find((vector) => vector.name === name)?.key

describe('the key of a round', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))(
    'equals the vector: %s',
    (_, { response, key }) => {
      expect(roundKey(wordsHash(response), 1)).toBe(key)
    },
  )

  it.each([
    ['one call', 'text beside a call does not count'],
    ['blanks and the order of keys do not count', 'the same, sorted'],
    ['numbers count by value', 'the same numbers'],
    ['no arguments', 'an empty object'],
    ['no arguments', 'null as no arguments'],
    ['escapes count by value', 'the same escapes'],
    ['no text', 'only blanks'],
  ])('is the same for these two: %s, %s', (one, other) => {
    expect(keyOf(one)).toBeDefined()
    expect(keyOf(one)).toBe(keyOf(other))
  })

  it('differs for each id, each name and each argument', () => {
    const call = { id: 'c', name: 't', arguments: '{"a":1}' }
    const others = [
      { ...call, id: 'd' },
      { ...call, name: 'u' },
      { ...call, arguments: '{"a":2}' },
    ]
    const hashes = [call, ...others].map((one) => wordsHash({ text: '', calls: [one] }))
    expect(new Set(hashes).size).toBe(4)
  })

  it('has the hash before its dot', () => {
    expect(hashOfKey(keyOf('a text') ?? '')).toBe(wordsHash({ text: 'Done.', calls: [] }))
  })

  it('takes arguments that are nested too deeply for the stack as text', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const hash = (text: string) =>
      wordsHash({ text: '', calls: [{ id: '', name: 't', arguments: text }] })
    expect(hash(deep)).toBe(hash(` ${deep} `))
  })

  it('keeps a key of the name __proto__ apart', () => {
    const hash = (text: string) =>
      wordsHash({ text: '', calls: [{ id: '', name: 't', arguments: text }] })
    expect(hash('{"__proto__":1}')).not.toBe(hash('{}'))
  })
})
