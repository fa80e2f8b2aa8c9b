// The server-sent events of a provider's response, before anybody parses them: so text arrives
// exactly as it was sent. Read by eventsource-parser and not by an SDK: OpenAI's hands out parsed
// JSON only and cannot tell a stream that ended from one that was cut, and Anthropic's takes a
// handful of promises for each event, where a piece of the body mostly holds many
// (test/bench/README.md has the figures).

import { createParser } from 'eventsource-parser'
import { limits } from '../../../shared/contract/limits.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { parseJson } from './exact-json.ts'
import { textOf, textReader } from './sent-text.ts'

/** `event`: its `event:` line, null where it has none. */
export type SentEvent = { event: string | null; data: string }

/**
 * The events in order, those that came together together. `heard` is called for each piece of the
 * body, whatever it holds. Throws what the connection throws. Whoever leaves early leaves the body
 * to the connection (http-fetch.ts).
 */
export async function* sentEvents(
  response: Response,
  heard: () => void,
): AsyncGenerator<SentEvent[], void> {
  const reader = eventReader()
  let sinceEvent = 0
  let hasEvents = false
  for await (const piece of response.body ?? []) {
    heard()
    sinceEvent += piece.byteLength
    // A reader would gather a line without an end (R7).
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
 * As sentEvents, also of a server that does not stream and answers with one body of JSON.
 * `eventsOf`: the events that such a body stands for, from its value and its text.
 */
export async function* answeredEvents(
  response: Response,
  heard: () => void,
  eventsOf: (whole: unknown, body: string) => SentEvent[],
): AsyncGenerator<SentEvent[], void> {
  if (!response.headers.get('content-type')?.includes('application/json'))
    yield* sentEvents(response, heard)
  else {
    const body = await wholeBody(response, heard)
    const whole = parseJson(body)
    if (whole === undefined) yield* sentEvents(new Response(body), heard)
    else yield eventsOf(whole, body)
  }
}

/** A body that is no stream of events, as text; bounded and heard alike. */
export async function wholeBody(response: Response, heard: () => void): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    heard()
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
 * As the HTML standard says; an event without data is none. More is read where servers break it in
 * ways that show: an error in the middle of a stream as a field `error` of its own, handed on as an
 * event of that name; JSON on lines of its own, without `data:`; events without a blank line
 * between them.
 */
function eventReader(): { take(piece: Uint8Array): SentEvent[]; end(): SentEvent[] } {
  const texts = textReader()
  const lines = oddLines()
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
    // The last event counts also where the server left out the blank line after it; one that is
    // half there is no JSON.
    end: () => {
      const last = taken(`${texts.end()}\n\n`)
      endBare()
      return last
    },
  }
}

/**
 * Lines of data that are each an event and together none came without the blank lines between them.
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

/**
 * Keeps a line that is or may become one of those beside the standard until its end came: of fields
 * that it does not know the parser takes whole lines only.
 */
function oddLines(): { whole(text: string): string } {
  let kept: string[] = []
  let head = ''
  let isInLine = false

  /** What goes on to the parser. */
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
    head = (head + text).slice(0, 'error'.length)
    kept.push(text)
    if (mayBeOdd(head)) return ''
    isInLine = true
    return kept.splice(0).join('')
  }

  return { whole }
}

/** JSON that is written over several lines has them begin with brackets, quotes and blanks. */
function mayBeOdd(head: string): boolean {
  return 'error'.startsWith(head) || /^[{}[\]" \t]/.test(head)
}

/** Some proxies put the field's name before a payload that has it already. */
function withoutPrefix(data: string): string {
  return data.startsWith('data:') ? data.replace(/^data:\s?/, '') : data
}
