import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { secretMask } from '../../../../shared/lib/log/secret-mask.ts'

const secret = 'p+q/r ä"s=='

const hex = Buffer.from(secret).toString('hex')
const units = [...secret]
  .map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
  .join('')
const upper = (text: string) => text.toUpperCase()

describe('a mask of secrets', () => {
  it.each([
    ['itself', secret],
    ['percent-encoded', encodeURIComponent(secret)],
    [
      'percent-encoded in lower case',
      encodeURIComponent(secret).replaceAll(/%../g, (one) => one.toLowerCase()),
    ],
    ['percent-encoded but for its slashes', encodeURI(secret)],
    ['encoded as in a form', encodeURIComponent(secret).replaceAll('%20', '+')],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in hex', hex],
    ['with each byte percent-encoded', hex.replaceAll(/../g, '%$&')],
    ['with each byte percent-encoded in upper case', hex.toUpperCase().replaceAll(/../g, '%$&')],
    ['with each character as an escape of JSON', units],
    ['with each character as an escape in upper case', units.replaceAll(/[a-f]/g, upper)],
  ])('hides one %s', (_, spelling) => {
    expect(secretMask([secret])(`a ${spelling} b`)).toBe('a [secret] b')
  })

  it('hides the plain text of a value that was percent-encoded', () => {
    expect(secretMask(['a%20b%2Fc'])('GET a b/c')).toBe('GET [secret]')
  })

  it.each(['', 'u', 'us', 'user:'])('hides most of one in base64 behind %j', (before) => {
    const encoded = Buffer.from(`${before}${secret}, more`).toString('base64')
    const shown = secretMask([secret])(encoded)
    expect(shown).toContain('[secret]')
    expect(shown.replace('[secret]', '').length).toBeLessThan(encoded.length - 12)
    const forUrls = encoded.replaceAll('+', '-').replaceAll('/', '_')
    expect(secretMask([secret])(forUrls)).toContain('[secret]')
  })

  it('hides the whole of the longer one where one is a part of another', () => {
    expect(secretMask(['abcdefgh', 'abcdefgh-ijkl'])('abcdefgh-ijkl abcdefgh')).toBe(
      '[secret] [secret]',
    )
  })

  it('hides a short number such as a PIN, but no value of three characters', () => {
    expect(secretMask(['482913', 'abc'])('pin 482913, abc')).toBe('pin [secret], abc')
  })

  it.each([
    ['a part of a word', 'prod', 'the production of reproduced products'],
    ['a part of a number', '4829', 'row 148291, 4829th'],
    ['a part of a word of another script', 'файл', 'профайлер'],
    ['one whose decoded form is too short', '%41%42', 'CABLE AB'],
    ['one whose decoded form is short', '%61bcd', 'abcde'],
  ])('leaves %s as it is', (_, value, text) => {
    expect(secretMask([value])(text)).toBe(text)
  })

  it.each([
    [
      'beside marks',
      'prod',
      'env=prod&x=/prod/prod_1-prod',
      'env=[secret]&x=/[secret]/[secret]_1-[secret]',
    ],
    [
      'behind an escape of JSON',
      'prod',
      '{"a":"\\nprod\\tprod\\u0009prod"}',
      '{"a":"\\n[secret]\\t[secret]\\u0009[secret]"}',
    ],
    ['behind an escape of a URL', 'prod', '?q=env%3Dprod%26x', '?q=env%3D[secret]%26x'],
    ['with marks of expressions', 'a.(b+$', 'x a.(b+$ y', 'x [secret] y'],
    ['with a mark at its end', '-p$&', 'x-p$&x', 'x[secret]x'],
    ['that is the whole text', 'hunter2', 'hunter2', '[secret]'],
  ])('hides a short one %s', (_, value, text, shown) => {
    expect(secretMask([value])(text)).toBe(shown)
  })

  it('hides a longer one also inside a word', () => {
    expect(secretMask(['hunter22'])('xhunter22y')).toBe('x[secret]y')
  })

  it('leaves a text without secrets as it is', () => {
    expect(secretMask([])('text')).toBe('text')
    expect(secretMask([secret])('other text')).toBe('other text')
  })

  it.each([
    ['in upper case', 'SK-LIVE-ABCDEF12'],
    ['in lower case', 'sk-live-abcdef12'],
    ['in mixed case', 'sK-LiVe-aBcDeF12'],
    ['in upper case behind a letter whose lower case is longer', 'İİSK-LIVE-ABCDEF12'],
    ['in hex of upper case', Buffer.from('Sk-live-AbCdEf12').toString('hex').toUpperCase()],
    ['with one percent escape', 'Sk%2Dlive-AbCdEf12'],
    ['with one escape of JSON', 'Sk-live-\\u0041bCdEf12'],
    ['with escapes of both kinds', '%53k\\u002dlive-AbC%64Ef12'],
    ['with one escape and in upper case', 'SK%2DLIVE-ABCDEF12'],
  ])('hides one %s', (_, spelling) => {
    const shown = secretMask(['Sk-live-AbCdEf12'])(`a=${spelling}\n`)
    expect(shown.replaceAll('İ', '')).toBe('a=[secret]\n')
  })

  it('hides one whichever of its characters are escaped', () => {
    const forms = fc.array(fc.constantFrom('plain', 'percent', 'json'), {
      minLength: 12,
      maxLength: 12,
    })
    const written = (form: string | undefined, one: string) => {
      if (form === 'plain') return one
      if (form === 'json') return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
      return Buffer.from(one).toString('hex').replaceAll(/../g, '%$&')
    }
    fc.assert(
      fc.property(forms, (chosen) => {
        const shown = [...'p+q/r "s==12'].map((one, i) => written(chosen[i], one)).join('')
        expect(secretMask(['p+q/r "s==12'])(`<${shown}>`)).toBe('<[secret]>')
      }),
    )
  })

  it.each([
    ['a short one in another case', 'prod', 'PROD and Prod'],
    ['a word of letters in another case', 'postgres', 'PostgreSQL, POSTGRES'],
    ['a short one that only begins behind an escape', 'prod', 'a%20product\\nproduct'],
    ['a part of an escape', 'u0041', 'x\\u00412'],
  ])('leaves %s as it is', (_, value, text) => {
    expect(secretMask([value])(text)).toBe(text)
  })

  it('hides a short one with an escape in it, also in a word', () => {
    expect(secretMask(['prod'])('x%70rody')).toBe('x[secret]y')
  })

  it('hides each of very many', () => {
    const many = secretMask(['Sk-live-AbCdEf12'])('Sk%2Dlive-AbCdEf12 '.repeat(20_000))
    expect(many).toBe('[secret] '.repeat(20_000))
  })
})
