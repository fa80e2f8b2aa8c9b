import { describe, expect, it } from '@jest/globals'
import { patternFault, redactPathIn } from '../../../../shared/contract/redaction/redact-rule.ts'
import { maybeSecret, valueClasses } from '../../../../shared/contract/redaction/value-classes.ts'
import {
  linearPattern,
  type ValuePattern,
  valueCharactersMax,
  valuesIn,
} from '../../../../shared/contract/redaction/value-pattern.ts'

const keyLines = `${'Ab+/'.repeat(16)}\n`.repeat(190)
const privateKey = `-----BEGIN PRIVATE KEY-----\n${keyLines}-----END PRIVATE KEY-----`
const encryptedKey = `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${keyLines}-----END RSA PRIVATE KEY-----`

const keysOfServices = [
  `sk-${'a1'.repeat(12)}`,
  `rk_live_${'a1'.repeat(12)}`,
  `github_pat_${'a1'.repeat(20)}`,
  `glpat-${'a1'.repeat(12)}`,
  `npm_${'a1'.repeat(18)}`,
  `hf_${'a1'.repeat(18)}`,
  `xoxb-${'a1'.repeat(12)}`,
  `AIza${'a1'.repeat(17)}b`,
  privateKey,
]

function found(name: string, text: string): string[] {
  const pattern = valueClasses.get(name) as ValuePattern
  return [...valuesIn(text, pattern)].map(({ text }) => text)
}

describe('a class of values', () => {
  it.each([
    [
      'key',
      'export K=sk-ant-api03-abcdefghijklmnopqrstuv ok',
      'sk-ant-api03-abcdefghijklmnopqrstuv',
    ],
    ['key', `-H "token: ghp_${'a1'.repeat(18)}"`, `ghp_${'a1'.repeat(18)}`],
    ['key', 'id AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
    [
      'key',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    ],
    ['key', '-----BEGIN RSA PRIVATE KEY-----\nMII', '-----BEGIN RSA PRIVATE KEY-----\nMII'],
    ['key', `{"pem":"${privateKey.replaceAll('\n', '\\n')}"}`, privateKey.replaceAll('\n', '\\n')],
    ['key', `a ${encryptedKey} b`, encryptedKey],
    ['email', 'to <ann.lee+x@mail.example.org>, please', 'ann.lee+x@mail.example.org'],
    ['email', 'jörg@bücher.example', 'jörg@bücher.example'],
    ['card', 'card 4111 1111 1111 1111 12 26', '4111 1111 1111 1111'],
    ['card', '5 5555-5555-5555-4444.', '5555-5555-5555-4444'],
    ['card', '378282246310005', '378282246310005'],
    ['iban', 'pay DE89 3704 0044 0532 0130 00 is it', 'DE89 3704 0044 0532 0130 00'],
    ['iban', 'GB82WEST12345698765432', 'GB82WEST12345698765432'],
    ['phone', 'call +49 (30) 1234-567 now', '+49 (30) 1234-567'],
    ['phone', 'call 555-123-4567', '555-123-4567'],
    ['phone', 'call 0171 1234567', '0171 1234567'],
  ])('%s finds its values in %j', (name, text, value) => {
    expect(found(name, text)).toEqual([value])
  })

  it.each([
    ['key', 'task-runner, sk-short, AKIA, disk-abcdefghijklmnopqrstuvwxyz, $OPENAI_API_KEY'],
    ['email', 'a@b, @home, user@localhost'],
    ['card', '4111 1111 1111 1112 and 1700000000000 and 12'],
    ['iban', 'DE88 3704 0044 0532 0130 00, commit ab12cd34ef56ab12cd34'],
    ['phone', '2026-11-24 10:15, v1.2.3, 4711'],
  ])('%s finds nothing in %j', (name, text) => {
    expect(found(name, text)).toEqual([])
  })

  it('finds the whole private key at any place of a long text', () => {
    for (let before = 0; before <= 40_000; before += 3_997) {
      const text = `${'x '.repeat(before / 2)}${privateKey} and a sentence`
      expect(found('key', text)).toEqual([privateKey])
    }
  })

  it('names each key as a possible secret, for the scan', () => {
    for (const key of keysOfServices) {
      expect(found('key', key)).toEqual([key])
      expect(key).toMatch(maybeSecret)
    }
  })

  it('finds a value at any place of a long text, once', () => {
    for (let before = 0; before <= 3 * valueCharactersMax; before += 97) {
      const text = `${'x '.repeat(before / 2)} ann@mail.example ${'y '.repeat(2_000)}`
      expect(found('email', text)).toEqual(['ann@mail.example'])
    }
  })
})

describe('a pattern of an agent', () => {
  it('is refused if it is no expression, cannot be matched in linear time, or matches everything', () => {
    expect(patternFault('[')).toContain('is no regular expression')
    expect(patternFault('(?<=a)b')).toContain('cannot be matched in linear time')
    expect(patternFault(String.raw`(a)\1`)).toContain('cannot be matched in linear time')
    expect(patternFault('x*')).toContain('matches an empty text')
    for (const wide of ['.+', String.raw`\w`, String.raw`[\s\S]`, '[a-z0-9]+'])
      expect(patternFault(wide)).toContain('matches nearly every text')
    for (const fine of [String.raw`ORD-\d{6}`, String.raw`\d+`, 'secret']) {
      expect(patternFault(fine)).toBeUndefined()
    }
  })

  it('is searched in windows, so a tail that may match the whole text reads a window only', () => {
    let read = 0
    const pattern = linearPattern('a(?:[^b]*b)?', (match) => {
      read += match.length
      return match.length
    })
    const text = 'a'.repeat(20_000)
    expect([...valuesIn(text, pattern)]).toHaveLength(text.length)
    expect(read).toBe(text.length)
  })

  it('is a path only with arguments or results and a step', () => {
    expect(redactPathIn('arguments.customer.*.name')).toEqual({
      of: 'arguments',
      steps: ['customer', '*', 'name'],
    })
    for (const bad of ['arguments', 'argument.x', 'arguments..x', 'results.', ''])
      expect(redactPathIn(bad)).toBeUndefined()
  })
})
