// The outcome of a tool that is a function, in this process or in that of its module. The same value
// gives the same text in both. module-child.ts imports this file, so it imports only shared/lib.
// The text is bounded here, so nobody holds a larger result than Weir keeps.

import { inspect } from 'node:util'
import { cutToBytes } from '../../lib/text-cut.ts'

export type FunctionOutcome =
  /** `bytes`: of the whole text. `replaced`: half characters became U+FFFD. */
  | { type: 'returned'; text: string; bytes: number; replaced: boolean }
  /** `stack` is for logs: it names files. */
  | { type: 'failed'; how: 'threw' | 'no-json' | 'crashed'; message: string; stack: string }

const errorBytesMax = 8 * 1024
const causesMax = 3

/** Never rejects. `run` may throw at once. */
export async function functionOutcome(
  run: () => unknown,
  bytesMax: number,
): Promise<FunctionOutcome> {
  let result: unknown
  try {
    result = await run()
  } catch (error) {
    return { type: 'failed', how: 'threw', ...described(error) }
  }
  try {
    const text = textOf(result)
    const whole = text.toWellFormed()
    return {
      type: 'returned',
      text: cutToBytes(whole, bytesMax),
      bytes: Buffer.byteLength(whole),
      replaced: whole !== text,
    }
  } catch (error) {
    return { type: 'failed', how: 'no-json', ...described(error) }
  }
}

function textOf(result: unknown): string {
  if (result === undefined) return ''
  if (typeof result === 'string') return result
  const text: string | undefined = JSON.stringify(result)
  if (text === undefined) throw new TypeError(`a ${typeof result} has no JSON`)
  if (text === '{}' && !isPlainObject(result))
    throw new TypeError(`${classOf(result)} has no JSON: return a text, a list or a plain object`)
  return text
}

/** A Map, a Response or a generator would look like an empty object. */
function isPlainObject(value: unknown): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function classOf(value: unknown): string {
  const name = (value as { constructor?: { name?: unknown } }).constructor?.name
  return typeof name === 'string' && name !== '' ? name : 'a generator'
}

/** Describes any thrown value, also one that throws again when read. */
export function described(error: unknown): { message: string; stack: string } {
  try {
    if (!(error instanceof Error))
      return { message: shown(typeof error === 'string' ? error : inspect(error)), stack: '' }
    return { message: shown(withCauses(error)), stack: shown(inspect(error)) }
  } catch {
    return { message: 'an error that cannot be shown', stack: '' }
  }
}

/** Includes the causes: `fetch failed` alone is useless. */
function withCauses(error: Error): string {
  const messages: string[] = []
  for (
    let next: unknown = error;
    next instanceof Error && messages.length <= causesMax;
    next = next.cause
  ) {
    const { code } = next as NodeJS.ErrnoException
    const message = next.message || (code === undefined ? '' : String(code))
    messages.push(message === '' ? String(next.name) : `${next.name}: ${message}`)
  }
  return messages.join(' - caused by ')
}

function shown(text: string): string {
  return cutToBytes(text.toWellFormed(), errorBytesMax)
}
