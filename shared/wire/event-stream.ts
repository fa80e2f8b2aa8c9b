// Splits a provider's response into server-sent events and leaves their text exactly as the server
// sent it. Uses eventsource-parser and no SDK. OpenAI's SDK returns parsed JSON only and cannot
// tell a finished stream from a truncated one. Anthropic's needs several promises per event,
// although one piece of the body mostly holds many events (test/bench/README.md has the figures).

import { createParser } from 'eventsource-parser'
import { limits } from '../contract/limits.ts'
import { WeirError } from '../lib/errors.ts'
import { isObject } from '../lib/json/json-object.ts'
import { parseJson } from './exact-json.ts'
import { textOf, textReader } from './utf8-text.ts'

/** `event`: its `event:` line; null: none. */
export type SentEvent = { event: string | null; data: string }

/**
 * Yields the events in order, with one batch for each piece of the body. Calls `onBytes` for every
 * piece. Throws the errors of the connection. A caller that stops early leaves the rest of the body
 * to the connection (http-fetch.ts).
 */
export async function* sentEvents(
  response: Response,
  onBytes: () => void,
): AsyncGenerator<SentEvent[], void> {
  const reader = eventReader()
  let sinceEvent = 0
  let hasEvents = false
  for await (const piece of response.body ?? []) {
    onBytes()
    sinceEvent += piece.byteLength
    // The parser would buffer a line without an end (R7).
    if (sinceEvent > limits.streamEventBytesMax) throw tooLong(sinceEvent)
    const events = reader.take(piece)
    if (events.length === 0) continue
    sinceEvent = 0
    hasEvents = true
    yield events
  }
  const events = reader.end()
  if (events.length > 0) yield events
  else if (!hasEvents && response.headers.get('content-type')?.includes('text/html') === true)
    throw new WeirError(
      'provider.stream',
      "a web page came in the place of a stream: check the base URL (of OpenAI's APIs: .../v1)",
    )
}

/**
 * Like sentEvents, but also accepts a server that does not stream and sends one JSON body.
 * `eventsOf` turns the value and text of such a body into events.
 */
export async function* answeredEvents(
  response: Response,
  onBytes: () => void,
  eventsOf: (whole: unknown, body: string) => SentEvent[],
): AsyncGenerator<SentEvent[], void> {
  if (!response.headers.get('content-type')?.includes('application/json'))
    yield* sentEvents(response, onBytes)
  else {
    const body = await wholeBody(response, onBytes)
    const whole = parseJson(body)
    if (whole === undefined) yield* sentEvents(new Response(body), onBytes)
    else yield eventsOf(whole, body)
  }
}

/** Reads the whole body as text, with the same bound and the same `onBytes` calls. */
export async function wholeBody(response: Response, onBytes: () => void): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    onBytes()
    bytes += piece.byteLength
    if (bytes > limits.streamEventBytesMax) throw tooLong(bytes)
    pieces.push(piece)
  }
  const { text, broken } = textOf(Buffer.concat(pieces))
  if (broken) throw notText()
  return text.replace(/^\ufeff/, '').trimEnd()
}

function tooLong(bytes: number): WeirError {
  return new WeirError(
    'provider.stream',
    `${bytes} bytes of the stream without a complete event; at most ${limits.streamEventBytesMax}`,
  )
}

function notText(): WeirError {
  return new WeirError('provider.stream', 'what came is not UTF-8')
}

/**
 * Follows the HTML standard and drops an event without data. It also accepts three deviations of
 * servers: an error in a field `error`, JSON on lines without `data:`, and events without a blank
 * line between them. Emits such a field as an event named `error`.
 */
function eventReader(): { take(piece: Uint8Array): SentEvent[]; end(): SentEvent[] } {
  const texts = textReader()
  const lines = wholeLines()
  let bare: string[] = []
  let events: SentEvent[] = []
  const parser = createParser({
    onEvent: ({ event = null, data }) => {
      endBare()
      events.push(...eventsIn(event, data))
    },
    onError: ({ field, value = '', line = '' }) => {
      if (bare.length === 0 && field === 'error') events.push({ event: 'error', data: value })
      else if (bare.length > 0 || /^[{[]/.test(line)) bare.push(line)
      if (bare.length === 1 && parseJson(line) !== undefined) endBare()
    },
  })

  function endBare(): void {
    if (bare.length > 0) events.push({ event: null, data: bare.join('\n') })
    bare = []
  }

  function taken(text: string): SentEvent[] {
    events = []
    parser.feed(lines.whole(text))
    return events
  }

  return {
    take: (piece) => {
      const { text, broken } = texts.take(piece)
      const whole = taken(text)
      return broken ? [...whole, { event: 'error', data: notText().message }] : whole
    },
    // Accept the last event without its blank line. A truncated one is not JSON.
    end: () => {
      const last = taken(`${texts.end()}\n\n`)
      endBare()
      return last
    },
  }
}

/**
 * Splits data of several lines if each line is an event and the server left out the blank lines.
 */
function eventsIn(event: string | null, data: string): SentEvent[] {
  const sent = { event, data: withoutPrefix(data) }
  if (!data.includes('\n') || parseJson(sent.data) !== undefined) return [sent]
  const each = data.split('\n').map((line, n, { length }) => ({
    event: n === length - 1 ? event : null,
    data: withoutPrefix(line),
  }))
  const areEvents = each.every(
    ({ data: line }) => line.trim() === '[DONE]' || isObject(parseJson(line)),
  )
  return areEvents ? each : [sent]
}

const dataField = 'data:'

/**
 * Holds back each line until its end arrives, apart from data: the parser reports an unknown field
 * only if it gets the whole line.
 */
function wholeLines(): { whole(text: string): string } {
  let kept: string[] = []
  let head = ''
  let isInLine = false

  /** Returns the text that goes on to the parser. */
  function whole(text: string): string {
    const lastEnd = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'))
    if (lastEnd >= 0) {
      const before = [...kept, text.slice(0, lastEnd + 1)].join('')
      kept = []
      head = ''
      isInLine = false
      return lastEnd === text.length - 1 ? before : before + whole(text.slice(lastEnd + 1))
    }
    if (isInLine) return text
    head = (head + text).slice(0, dataField.length)
    kept.push(text)
    if (head !== dataField) return ''
    isInLine = true
    return kept.splice(0).join('')
  }

  return { whole }
}

/** Some proxies repeat the field name in front of the payload. */
function withoutPrefix(data: string): string {
  return data.startsWith('data:') ? data.replace(/^data:\s?/, '') : data
}
