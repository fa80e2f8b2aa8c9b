// A value that a rule found must not leave in another spelling.

import { describe, expect, it } from '@jest/globals'
import { foldedText } from '../../../../shared/runtime/redaction/folded-text.ts'
import { gatherKnownValues } from '../../../../shared/runtime/redaction/known-values.ts'

const key = 'sk-Zürich/K3y+9f'
const spaced = 'Renée Müller Straße 5'

function left(text: string, ...values: string[]): string {
  const known = gatherKnownValues()
  for (const value of values) known.add(value, 'GONE')
  return known.replacedIn(text, false)
}

const hex = (value: string, prefix: string, length: number, end = '') =>
  [...value]
    .map((one) => prefix + (one.codePointAt(0) as number).toString(16).padStart(length, '0') + end)
    .join('')
const lowerPercent = (value: string) =>
  encodeURIComponent(value).replace(/%../g, (found) => found.toLowerCase())

const spellings: [name: string, spell: (value: string) => string][] = [
  ['decomposed characters (NFD)', (value) => value.normalize('NFD')],
  [
    'full-width characters',
    (value) =>
      value.replace(/[a-z]/g, (one) =>
        String.fromCodePoint((one.codePointAt(0) as number) + 0xfee0),
      ),
  ],
  ['zero-width spaces', (value) => [...value].join('\u200b')],
  ['grapheme joiners', (value) => [...value].join('\u034f')],
  ['fillers of Hangul', (value) => [...value].join('\u3164')],
  [
    'zero-width joiners and a byte order mark',
    (value) => `${value.slice(0, 5)}\u200d\ufeff${value.slice(5)}`,
  ],
  ['soft hyphens', (value) => [...value].join('\u00ad')],
  ['word joiners', (value) => [...value].join('\u2060')],
  ['percent encoding in lower case', lowerPercent],
  ['percent encoding with bare slashes', (value) => encodeURI(value)],
  [
    'percent encoding of each character',
    (value) => Buffer.from(value).reduce((all, byte) => `${all}%${byte.toString(16)}`, ''),
  ],
  ['percent encoding twice', (value) => encodeURIComponent(encodeURIComponent(value))],
  ['hexadecimal entities', (value) => hex(value, '&#x', 1, ';')],
  [
    'upper-case hexadecimal entities',
    (value) => hex(value, '&#x', 2, ';').toUpperCase().replaceAll('&#X', '&#x'),
  ],
  ['decimal entities', (value) => [...value].map((one) => `&#${one.codePointAt(0)};`).join('')],
  ['an entity for the slash', (value) => value.replaceAll('/', '&#x2F;').replaceAll(' ', '&nbsp;')],
  [
    'named entities',
    (value) => value.replaceAll('/', '&sol;').replaceAll('ü', '&uuml;').replaceAll('é', '&eacute;'),
  ],
  ['entities of entities', (value) => value.replaceAll('ü', '&amp;#xFC;')],
  [
    "Python's escapes",
    (value) => value.replaceAll('ü', '\\xfc').replaceAll('é', '\\xe9').replaceAll('ß', '\\xdf'),
  ],
  ['escapes of code points', (value) => hex(value, '\\u{', 1, '}')],
  ['escapes of four digits', (value) => hex(value, '\\u', 4)],
  ['escapes of eight digits', (value) => hex(value, '\\U', 8)],
  ['escaped slashes', (value) => value.replaceAll('/', '\\/')],
  [
    'escaped slashes in JSON in JSON',
    (value) => JSON.stringify(JSON.stringify(value).replaceAll('/', '\\/')),
  ],
  ['escapes in JSON in JSON', (value) => JSON.stringify(hex(value, '\\u', 4))],
  [
    'empty quotes of a shell',
    (value) => `${value.slice(0, 3)}''${value.slice(3, 6)}""${value.slice(6)}`,
  ],
  ['backslashes of a shell', (value) => `${value.slice(0, 4)}\\${value.slice(4)}`],
  ['a line wrap', (value) => `${value.slice(0, 6)}\n${value.slice(6)}`],
  ['a line wrap with an indent', (value) => `${value.slice(0, 6)}\r\n    ${value.slice(6)}`],
  ['a continued line of a shell', (value) => `${value.slice(0, 6)}\\\n${value.slice(6)}`],
  ['a wrapped line of a mail', (value) => `${value.slice(0, 6)}=\r\n${value.slice(6)}`],
  ['an escaped line end', (value) => `${value.slice(0, 6)}\\n${value.slice(6)}`],
  ['percent encoding in an entity', (value) => encodeURIComponent(value).replaceAll('%', '&#37;')],
]

describe('a known value', () => {
  it.each(spellings)('is replaced in %s', (_, spell) => {
    for (const value of [key, spaced]) {
      expect(left(`before ${spell(value)} after`, value)).toMatch(
        /^before "?(\\")?GONE(\\")?"? after$/,
      )
      expect(left(spell(value), value)).not.toContain(spell(value).slice(-4))
    }
  })

  it.each(spellings)('that is itself spelled in %s is replaced where it is plain', (_, spell) => {
    if (spell(key) === key || spell(key).includes('"')) return
    expect(left(`before ${key} after`, spell(key))).toMatch(/GONE/)
  })

  it('leaves the rest of a text as it is', () => {
    const around = 'caf\u0065\u0301 %41 &lt; \\u0041 \u200b\n  '
    expect(left(`${around}${[...key].join('\u200b')}${around}`, key)).toBe(`${around}GONE${around}`)
  })

  it.each([
    ['100% sure & \\ready', 'secret value'],
    ['%zz %c3 &unknown; \\u12 \\x', 'secret value'],
    ['a lone \ud83d half', 'secret value'],
    ['&#x110000; &#9999999;', 'secret value'],
    ['', 'secret value'],
  ])('does not change %j, which has other text', (text, value) => {
    expect(left(text, value)).toBe(text)
  })

  it('is replaced at its longest, and twice in a row', () => {
    expect(left('sec\u200bretkey s\u200becret', 'secret', 'secretkey')).toBe('GONE GONE')
    expect(left('s\u200becrets\u200becret', 'secret')).toBe('GONEGONE')
  })
})

describe('a folded text', () => {
  it('maps each character to its whole spelling', () => {
    const text = 'a&#x42;%63\u200bd\\u0065'
    const folded = foldedText(text)
    expect(folded?.text).toBe('aBcde')
    expect(folded?.starts.map((start, at) => text.slice(start, folded.ends[at]))).toEqual([
      ...['a', '&#x42;', '%63', 'd', '\\u0065'],
    ])
  })

  it('is not made of a text that has one spelling only', () => {
    expect(foldedText('plain-text')).toBeUndefined()
  })

  it('has at most as many steps for each character in a text twice as long', () => {
    const steps = (length: number) => {
      const { exec } = RegExp.prototype
      let count = 0
      RegExp.prototype.exec = function counted(text) {
        count += 1
        return exec.call(this, text)
      }
      foldedText('%25%26\\\\&amp;'.repeat(length))
      RegExp.prototype.exec = exec
      return count
    }
    expect(steps(2_000)).toBeLessThanOrEqual(2 * steps(1_000) + 100)
  })
})
