// The text of a message from the command line: an argument or standard input. An invalid message
// is an error that names the fix.

import type { Readable } from 'node:stream'
import { limits } from '../../../shared/contract/limits.ts'
import { usageError, type WeirError } from '../../../shared/lib/errors.ts'

/**
 * `argument`: undefined or `-` for standard input. Removes the last line end, as `$(...)` does.
 * Throws `usage`.
 */
export async function readMessageText(
  argument: string | undefined,
  input: Readable & { isTTY?: boolean },
): Promise<string> {
  if (argument !== undefined && argument !== '-') return acceptable(argument, 'the message')
  if (input.isTTY === true && argument === undefined) throw noText
  return acceptable(decoded(await bytesOf(input)).replace(/\r?\n$/, ''), 'standard input')
}

const noText = usageError(
  'there is no message: give it in quotes as the last argument, or pipe it into standard input',
)

function acceptable(text: string, source: string): string {
  if (text.trim() === '') throw usageError(`${source} is empty or blank: write a message`)
  const bytes = Buffer.byteLength(text)
  if (bytes > limits.userMessageBytesMax) throw tooLong(source, `${bytes} bytes`)
  return text
}

function tooLong(source: string, size: string): WeirError {
  const max = limits.userMessageBytesMax
  return usageError(
    `${source} has ${size}: a message has at most ${max}. Let a tool read longer texts`,
  )
}

/** Stops reading above the limit. */
async function bytesOf(input: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    chunks.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes > limits.userMessageBytesMax + 2)
      throw tooLong('standard input', `more than ${limits.userMessageBytesMax} bytes`)
  }
  return Buffer.concat(chunks)
}

/** A byte order mark at the beginning is not part of the text. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw usageError(
      `standard input is not UTF-8 (${faultIn(bytes)}): convert it first, for example with iconv`,
      { cause },
    )
  }
}

function faultIn(bytes: Uint8Array): string {
  const replaced = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  const at = replaced.findIndex((byte, i) => byte !== bytes[i])
  return at < 0
    ? 'it ends in the middle of a character'
    : `byte ${at + 1} is 0x${bytes[at]?.toString(16).padStart(2, '0') ?? '?'}`
}
