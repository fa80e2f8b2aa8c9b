// The server-sent events of a provider's response, before anybody parses them: so text arrives exactly as it was sent.
// Read here and not by an SDK: OpenAI's hands out parsed JSON only and cannot tell a stream that ended from one that was cut, and Anthropic's takes
// a handful of promises for each event, where a piece of the body mostly holds many (test/bench/README.md has the figures).

import { StringDecoder } from 'node:string_decoder'
import { WeirError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'

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

/** Reads as the HTML standard says: lines end with LF, CR or CRLF, a blank one ends an event, and fields that it does not know are left out. */
function eventReader(): { take(piece: Uint8Array): SentEvent[]; end(): SentEvent[] } {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let event: string | null = null
  let data: string[] = []

  function linesOf(text: string, isEnd: boolean): SentEvent[] {
    const events: SentEvent[] = []
    const plain = text.includes('\r') ? normalized(text, isEnd) : text
    let from = 0
    for (let to = plain.indexOf('\n'); to !== -1; to = plain.indexOf('\n', from)) {
      const done = take(plain.slice(from, to))
      if (done !== undefined) events.push(done)
      from = to + 1
    }
    rest = plain.slice(from)
    return events
  }

  /** The event that this line ends. */
  function take(line: string): SentEvent | undefined {
    if (line === '') {
      const done = event === null && data.length === 0 ? undefined : { event, data: withoutPrefix(data.join('\n')) }
      event = null
      data = []
      return done
    }
    const colon = line.indexOf(':')
    const value = colon === -1 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1)
    const name = colon === -1 ? line : line.slice(0, colon)
    if (name === 'data' || name === '\ufeffdata') data.push(value)
    else if (name === 'event' || name === '\ufeffevent') event = value
    return undefined
  }

  return {
    take: (piece) => linesOf(rest + decoder.write(piece as Buffer), false),
    // The last event counts also where the server left out the blank line after it; one that is half there is no JSON.
    end: () => linesOf(`${rest}${decoder.end()}\n\n`, true),
  }
}

/** With LF as the only end of a line. A CR at the very end may be half of a CRLF, so it stays. */
function normalized(text: string, isEnd: boolean): string {
  return text.replaceAll(isEnd ? /\r\n?/g : /\r\n|\r(?=.)/gs, '\n')
}

/** Some proxies put the field's name before a payload that has it already. */
function withoutPrefix(data: string): string {
  return data.startsWith('data:') ? data.replace(/^data:\s?/, '') : data
}
