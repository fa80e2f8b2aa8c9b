// Brace expansion: `{a,b}` and `{1..3}` become several words before all other expansions.

import { anyCharacter, anyName } from './field.ts'

const wordsMax = 256

/**
 * The texts of a brace expansion. Undefined: too many, or with quotes or expansions inside. `*`,
 * `?` and `[…]` in it match names.
 */
export function braced(text: string): string[] | undefined {
  if (/['"\\$`]/.test(text)) return undefined
  const words = expanded(text, 0)
  return words === undefined ? undefined : words.map(withNames)
}

function withNames(text: string): string {
  return text
    .replaceAll('*', anyName)
    .replaceAll('?', anyCharacter)
    .replace(/\[[^\]/]+\]/g, anyCharacter)
}

/** All words of a text with braces in it. */
function expanded(text: string, depth: number): string[] | undefined {
  const open = text.indexOf('{')
  if (open < 0) return [text]
  if (depth > 8) return undefined
  const close = closing(text, open)
  if (close === undefined) return [text]
  const head = text.slice(0, open)
  const tails = expanded(text.slice(close + 1), depth + 1)
  const middles = inner(text.slice(open + 1, close), depth)
  if (tails === undefined || middles === undefined || tails.length * middles.length > wordsMax)
    return undefined
  return middles.flatMap((middle) => tails.map((tail) => head + middle + tail))
}

function closing(text: string, open: number): number | undefined {
  let depth = 0
  for (let i = open; i < text.length; i++) {
    if (text[i] === '{') depth++
    if (text[i] === '}' && --depth === 0) return i
  }
  return undefined
}

function inner(text: string, depth: number): string[] | undefined {
  const parts = atCommas(text)
  if (parts.length === 1) return sequence(text) ?? literal(text, depth)
  const words: string[] = []
  for (const part of parts) {
    const some = expanded(part, depth + 1)
    if (some === undefined || words.length + some.length > wordsMax) return undefined
    words.push(...some)
  }
  return words
}

/** Braces around a single text stay. */
function literal(text: string, depth: number): string[] | undefined {
  return expanded(text, depth + 1)?.map((word) => `{${word}}`)
}

function atCommas(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '{') depth++
    if (text[i] === '}') depth--
    if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(from, i))
      from = i + 1
    }
  }
  return [...parts, text.slice(from)]
}

function sequence(text: string): string[] | undefined {
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?$/.exec(text)
  if (numbers !== null) {
    const width = Math.max(
      ...numbers.slice(1, 3).map((number) => (/^-?0\d/.test(number) ? number.length : 0)),
    )
    return steps(Number(numbers[1]), Number(numbers[2]), Number(numbers[3] ?? 1))?.map((number) =>
      padded(number, width),
    )
  }
  const letters = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(text)
  if (letters === null) return undefined
  const [from, to] = [letters[1] as string, letters[2] as string].map((letter) =>
    letter.charCodeAt(0),
  ) as [number, number]
  return steps(from, to, Number(letters[3] ?? 1))?.map((code) => String.fromCharCode(code))
}

function steps(from: number, to: number, stride: number): number[] | undefined {
  const step = Math.max(1, Math.abs(stride)) * (to < from ? -1 : 1)
  const count = Math.floor((to - from) / step) + 1
  return count > wordsMax ? undefined : Array.from({ length: count }, (_, i) => from + i * step)
}

function padded(number: number, width: number): string {
  const sign = number < 0 ? '-' : ''
  return sign + String(Math.abs(number)).padStart(width - sign.length, '0')
}
