// A file with a recorded stream, as the bodies of its HTTP responses. Its content determines its
// shape: server-sent events, JSON lines with a payload or {event, data} each (blank lines and # are
// comments), or one JSON body. A file can hold several responses: each begins a new body.

import {
  type ProviderRecord,
  providers,
} from '../../../services/llm-gateway/performer/providers/providers.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { parseJson } from '../../../shared/wire/exact-json.ts'
import type { RecordingFormat } from '../../../shared/wire/format.ts'

export type RecordedBody = {
  contentType: 'text/event-stream' | 'application/json'
  bytes: Uint8Array
}

/** At least one. Throws a WeirError if the bytes are no recorded stream. */
export function recordedBodies(bytes: Buffer, { recording }: ProviderRecord): RecordedBody[] {
  if (bytes.subarray(0, 2).equals(gzipMark))
    throw invalid('it is compressed with gzip: unpack it first')
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  if (text.trim() === '') throw invalid('the file is empty')
  const whole = text.trimStart().startsWith('{') ? parseJson(text) : undefined
  if (isObject(whole) && isWholeBody(whole)) return [{ contentType: 'application/json', bytes }]

  const [first = ''] = meaningfulLines(text)
  if (/^(?:data|event|id|retry)?:/.test(first)) return eventBodies(bytes, recording)
  if (typeof (parseJson(first) ?? '') === 'object' || first === endMark)
    return lineBodies(text, recording)
  throw invalid(
    `it is neither a stream of server-sent events nor JSON lines: its first line is '${first.slice(0, 60)}'`,
  )
}

const gzipMark = Buffer.from([0x1f, 0x8b])
const endMark = '[DONE]'

/** A whole body, not the only line of a stream. */
function isWholeBody(body: Record<string, unknown>): boolean {
  const { type, choices, error } = body
  if (isObject(error) && choices === undefined && (type === undefined || type === 'error'))
    return true
  return providers.some(({ recording }) => recording.isWhole(body))
}

function meaningfulLines(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => (line.trim() === '' || line.startsWith('#') ? [] : line.trim()))
}

function lineBodies(text: string, { hasNamedEvents, lastTypes }: RecordingFormat): RecordedBody[] {
  const bodies: string[] = ['']
  let isOver = false
  for (const line of meaningfulLines(text)) {
    const payload = parseJson(line)
    const envelope =
      isObject(payload) && typeof payload.event === 'string' && payload.data !== undefined
        ? payload
        : undefined
    const value = envelope === undefined ? line : envelope.data
    const data = typeof value === 'string' ? value : JSON.stringify(value)
    const type = envelope?.event ?? (isObject(payload) ? payload.type : undefined)
    if (isOver) bodies.push('')
    isOver = data === endMark || lastTypes.has(`${type}`)
    const name = hasNamedEvents && typeof type === 'string' ? `event: ${type}\n` : ''
    bodies.push(`${bodies.pop()}${name}data: ${data}\n\n`)
  }
  return bodies.map((body) => ({ contentType: 'text/event-stream', bytes: Buffer.from(body) }))
}

/**
 * The unchanged bytes of each response. One character is one byte here, so places in the text are
 * places in the bytes.
 */
function eventBodies(bytes: Buffer, { first, last }: RecordingFormat): RecordedBody[] {
  const text = bytes.toString('latin1')
  const bodies: RecordedBody[] = []
  let from = 0
  let isOver = false
  for (let at = 0; at < text.length; ) {
    const blank = /(?:\r\n|\r|\n){2}/g
    blank.lastIndex = at
    const end = blank.exec(text) === null ? text.length : blank.lastIndex
    const event = text.slice(at, end)
    if (isOver && first.test(event)) {
      bodies.push({ contentType: 'text/event-stream', bytes: bytes.subarray(from, at) })
      from = at
      isOver = false
    }
    isOver ||= last.test(event)
    at = end
  }
  return [...bodies, { contentType: 'text/event-stream', bytes: bytes.subarray(from) }]
}

/**
 * Describes a recording from another provider. Undefined: some of it can be this provider's. A
 * recording without a payload is one truncated early.
 */
export function foreignTo(bytes: Buffer, { name, recording }: ProviderRecord): string | undefined {
  const text = bytes.toString('utf8')
  const isBare = !/^(?:data: ?)?\s*\{/m.test(text)
  if (isBare || recording.any.test(text)) return undefined
  const other = providers.find((provider) => provider.recording.any.test(text))?.name
  return `it has no event of ${name}${other === undefined ? '' : `; its events are from ${other}: try --provider ${other}`}`
}

function invalid(message: string): WeirError {
  return new WeirError('recording.invalid', message)
}
