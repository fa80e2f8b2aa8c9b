// Prints server-sent events.
// A printed event has one line of data, also for clients that end a line at any
// character that Unicode calls a line separator. A type that is no word gets no line.

import type { Json } from '../../transcript/json-fields.ts'

/** Events as texts of a stream. `data`: an object, or a text that is no JSON. */
export function printedEvents(
  { isNamed }: { isNamed: boolean },
  events: readonly (Json | string)[],
): string {
  return events
    .map((data) => {
      if (typeof data === 'string') return `data: ${data}\n\n`
      const name = isNamed && isWord(data.type) ? `event: ${data.type}\n` : ''
      return `${name}data: ${oneLine(JSON.stringify(data))}\n\n`
    })
    .join('')
}

/** A type with line ends would be events of the vendor. */
export function isWord(type: unknown): boolean {
  return typeof type === 'string' && /^[\w.-]+$/.test(type)
}

/** JSON.stringify escapes the other separators. */
export function oneLine(json: string): string {
  return json.replace(
    /[\u0085\u2028\u2029]/g,
    (separator) => `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
