// Finds the error line in a failed answer's body: the short reason of the result, as error-line.ts
// finds it for programs. Servers answer with JSON, a page or a text.

import { errorLine } from '../../contract/call/error-line.ts'
import { limits } from '../../contract/limits.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { onOneLine, shortened } from '../../lib/text-cut.ts'

/** The members in which APIs put their message, the most specific first. */
const members = [
  'message',
  'detail',
  'error_description',
  'title',
  'error',
  'errors',
  'reason',
  'msg',
]
const depthMax = 5
/** Characters of a page in which to search its title. */
const pageLookedAtMax = 16 * 1024

/** Undefined when the body is blank. */
export function bodyLine(body: string): string | undefined {
  const line = inJson(body) ?? inPage(body) ?? errorLine(body)
  return line === undefined ? undefined : shortened(line, limits.reasonBytesMax)
}

function inJson(body: string): string | undefined {
  const value = boundedJson(body, limits.jsonDepthMax)
  return value === undefined
    ? undefined
    : oneLine(messageIn(value, depthMax) ?? JSON.stringify(value))
}

function inPage(body: string): string | undefined {
  return oneLine(/<title[^<>]*>([^<]*)</i.exec(body.slice(0, pageLookedAtMax))?.[1] ?? '')
}

function messageIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (typeof value !== 'object' || value === null || depth === 0) return undefined
  const candidates: unknown[] = Array.isArray(value)
    ? value.slice(0, 1)
    : members.map((name) => (value as Record<string, unknown>)[name])
  for (const candidate of candidates) {
    const message = messageIn(candidate, depth - 1)
    if (message !== undefined) return message
  }
  return undefined
}

/** Undefined if it has nothing to show. */
function oneLine(text: string): string | undefined {
  const line = onOneLine(text)
  return line === '' ? undefined : line
}
