// The server-sent events of a provider's response, before anybody parses them: so text arrives exactly as it was sent.
// Read by eventsource-parser and not by an SDK: OpenAI's hands out parsed JSON only and cannot tell a stream that ended from one that was cut, and
// Anthropic's takes a handful of promises for each event, where a piece of the body mostly holds many (test/bench/README.md has the figures).

import { createParser } from 'eventsource-parser'
import { WeirError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { parseJson } from './exact-json.ts'

/** `event`: its `event:` line, null where it has none. */
export type SentEvent = { event: string | null; data: string }

/**
 * The events in order, those that came together together. `heard` is called for each piece of the body, whatever it holds. Throws what the connection
 * throws. Whoever leaves early leaves the body to the connection (http-fetch.ts).
 */
export async function* sentEvents(response: Response, heard: () => void): AsyncGenerator<SentEvent[], void> {
  const reader = eventReader()
  let sinceEvent = 0
  for await (const piece of response.body ?? []) {
    heard()
    sinceEvent += piece.byteLength
    // A reader would gather a line without an end (R7).
    if (sinceEvent > limits.streamEventBytesMax) throw tooLong(sinceEvent)
    const events = reader.take(piece)
    if (events.length === 0) continue
    sinceEvent = 0
    yield events
  }
  const events = reader.end()
  if (events.length > 0) yield events
}

/**
 * As sentEvents, also of a server that does not stream and answers with one body of JSON. `eventsOf`: the events that such a body stands for, from its value and
 * its text.
 */
export async function* answeredEvents(
  response: Response,
  heard: () => void,
  eventsOf: (whole: unknown, body: string) => SentEvent[],
): AsyncGenerator<SentEvent[], void> {
  if (!response.headers.get('content-type')?.includes('application/json')) yield* sentEvents(response, heard)
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
  return new TextDecoder().decode(Buffer.concat(pieces)).trimEnd()
}

function tooLong(bytes: number): WeirError {
  return new WeirError('provider.stream', `${bytes} bytes of the stream without a complete event; at most ${limits.streamEventBytesMax}`)
}

/**
 * As the HTML standard says; an event without data is none. One field more is read: some servers write an error that comes in the middle of a stream
 * as a field `error` of its own, without `data`. It is handed on as an event of that name.
 */
function eventReader(): { take(piece: Uint8Array): SentEvent[]; end(): SentEvent[] } {
  const decoder = new TextDecoder()
  const lines = errorLines()
  let events: SentEvent[] = []
  const parser = createParser({
    onEvent: ({ event = null, data }) => events.push({ event, data: withoutPrefix(data) }),
    onError: ({ field, value = '' }) => {
      if (field === 'error') events.push({ event: 'error', data: value })
    },
  })

  function taken(text: string): SentEvent[] {
    events = []
    parser.feed(lines.whole(text))
    return events
  }

  return {
    take: (piece) => taken(decoder.decode(piece, { stream: true })),
    // The last event counts also where the server left out the blank line after it; one that is half there is no JSON.
    end: () => taken(`${decoder.decode()}\n\n`),
  }
}

/** Keeps a line that is or may become an `error` field until its end came: of fields that it does not know the parser takes whole lines only. */
function errorLines(): { whole(text: string): string } {
  let kept = ''
  let isInLine = false

  function whole(text: string): string {
    // Only what is new can hold an end of the line that is kept.
    const lastEnd = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'))
    const given = kept + text
    const lineStart = lastEnd < 0 ? 0 : kept.length + lastEnd + 1
    const line = given.slice(lineStart)
    const isAtStart = lastEnd >= 0 || !isInLine
    kept = isAtStart && 'error'.startsWith(line.slice(0, 'error'.length)) ? line : ''
    isInLine = kept === '' && (line !== '' || !isAtStart)
    return given.slice(0, given.length - kept.length)
  }

  return { whole }
}

/** Some proxies put the field's name before a payload that has it already. */
function withoutPrefix(data: string): string {
  return data.startsWith('data:') ? data.replace(/^data:\s?/, '') : data
}
