// The place in a program's file at which an error was thrown, for a message to its author.

import { basename } from 'node:path'

/** Bounded: a program may set any text as its stack. */
const stackCharacters = 16 * 1024

/**
 * The message of anything thrown, with its cause and the place: `fetch failed: connect ECONNREFUSED
 * 127.0.0.1:80 (no-rome.ts:12)`. `own`: see errorPlace.
 */
export function thrownText(error: unknown, own: string): string {
  const place = errorPlace(error, own)
  const message = error instanceof Error ? withCause(error) : String(error)
  return place === undefined ? message : `${message} (${place})`
}

/** The message of `fetch` alone is `fetch failed`. */
function withCause({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message
}

/**
 * The file's name and the line of the innermost frame outside of Node.js. Undefined: there is none,
 * or the frame is in `own`, the URL of the caller's file.
 */
function errorPlace(error: unknown, own: string): string | undefined {
  for (const line of stackOf(error).split('\n')) {
    const [, found = '', number = ''] = frame.exec(line) ?? []
    const file = found.replace(/\?.*$/, '')
    if (file === own) return undefined
    if (file !== '') return `${basename(file)}:${number}`
  }
  return undefined
}

const frame = /^\s+at (?:.*\()?((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/

function stackOf(error: unknown): string {
  try {
    const { stack } = error as { stack?: unknown }
    return typeof stack === 'string' ? stack.slice(0, stackCharacters) : ''
  } catch {
    return ''
  }
}
