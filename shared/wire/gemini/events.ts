// Maps the chunks of Gemini's answers to part events. Owns: the content of a chunk, the end of the
// answer and its validity. Does not own: HTTP, signatures (signed-parts.ts).
//
// A chunk is a whole response with whole calls: each is another call, with or
// without an id. A call in pieces spoils the attempt: only Vertex sends one, on request.
// Only a finish reason ends an answer. A blocked prompt is a refusal.
// The first candidate is the answer. Weir requests no other.

import type { PartEvent, Stop } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { finishWord, meaningOf } from '../../transcript/finish-reasons.ts'
import {
  type AnswerKind,
  type OpenAnswer,
  openAnswer,
  spoil as spoilAnswer,
} from '../answer-reader.ts'
import { stopOfWord } from '../answer-stop.ts'
import type { SentEvent } from '../event-stream.ts'
import { type ExactValues, exactValues, type Path } from '../exact-json.ts'
import type { Failed } from '../exchange.ts'
import { brokenStream } from '../faults/provider-errors.ts'
import { errorIn, faultOf } from '../faults/sent-errors.ts'
import { shortReason } from '../faults/short-reason.ts'
import type { Json } from '../format.ts'
import { keptApart, newIndex, partEvent, textEvents } from '../part-events.ts'
import { metadataEvents } from '../response-metadata.ts'
import { member, objectIn, spelling } from './members.ts'
import { addPart, newSignedParts, type SignedParts, signedBlock } from './signed-parts.ts'
import { geminiUsage } from './usage.ts'

/** One answer in progress. */
export type GeminiStream = OpenAnswer & {
  /** The author of the signatures, which no other model accepts. */
  model: string
  /** The indexes of the texts. */
  blocks: Map<'text' | 'reasoning', number>
  /** The place of the answer among the candidates; undefined: none yet. */
  candidate: number | undefined
  signed: SignedParts
  hasCalls: boolean
  id: string
}

export const geminiAnswers: AnswerKind<GeminiStream> = {
  begin: ({ secret, model = '' }) => ({
    ...openAnswer(secret),
    model,
    blocks: new Map(),
    candidate: undefined,
    signed: newSignedParts(),
    hasCalls: false,
    id: '',
  }),
  whole: chunksOf,
  read: readChunk,
  hasEndMark: false,
  spoil,
  end: endGemini,
  stop: stopOf,
}

/** A whole response, or the list of responses that `streamGenerateContent` sends without `alt=sse`. */
function chunksOf(whole: unknown, body: string): SentEvent[] {
  if (!Array.isArray(whole)) return [{ event: null, data: body }]
  const exact = exactValues(body)
  return whole.map((_, at) => ({ event: null, data: exact([at]) ?? '' }))
}

function readChunk(
  stream: GeminiStream,
  chunk: Json,
  { name, exact }: { name: string | null; exact: ExactValues },
): PartEvent[] {
  const error = errorIn({ choices: [], ...chunk }, name)
  if (error !== undefined) return spoil(stream, faultOf(error))
  const id = member(chunk, 'responseId')
  if (stream.id === '' && typeof id === 'string') stream.id = shortReason(id)
  const usage = objectIn(chunk, 'usageMetadata')
  if (usage !== undefined) Object.assign(stream, { usage: geminiUsage(usage), rawUsage: usage })
  const feedback = objectIn(chunk, 'promptFeedback')
  const blocked = feedback && finishWord(member(feedback, 'blockReason'))
  if (blocked) stream.finish ||= `PROMPT_BLOCKED_${shortReason(blocked)}`

  const list = Array.isArray(chunk.candidates) ? chunk.candidates : []
  for (const [at, candidate] of list.entries()) {
    if (!isObject(candidate)) continue
    const place = typeof candidate.index === 'number' ? candidate.index : at
    stream.candidate ??= place
    if (place !== stream.candidate) continue
    return readCandidate(stream, candidate, { exact, path: ['candidates', at] })
  }
  return []
}

/** A value of the chunk, and its path. */
type Sent = { exact: ExactValues; path: Path }

function readCandidate(stream: GeminiStream, candidate: Json, { exact, path }: Sent): PartEvent[] {
  const content = isObject(candidate.content) ? candidate.content : {}
  const parts: unknown[] = Array.isArray(content.parts) ? content.parts : []
  const events: PartEvent[] = []
  for (const [at, part] of parts.entries()) {
    if (!isObject(part)) continue
    events.push(...readPart(stream, part, { exact, path: [...path, 'content', 'parts', at] }))
    if (stream.fault !== undefined) return events
  }
  const finish = finishWord(member(candidate, 'finishReason'))
  if (finish !== '') stream.finish = shortReason(finish)
  if (meaningOf(stream.finish) !== 'failed') return events
  const said = member(candidate, 'finishMessage')
  const detail = typeof said === 'string' ? `: ${said}` : ''
  return [
    ...events,
    ...spoil(
      stream,
      brokenStream(`the provider ended the response with '${stream.finish}'${detail}`),
    ),
  ]
}

function readPart(stream: GeminiStream, part: Json, sent: Sent): PartEvent[] {
  const signature = signatureOf(part)
  const name = spelling(part, 'functionCall')
  if (part[name] !== undefined)
    return readCall(stream, part[name], { ...sent, path: [...sent.path, name] }, signature)
  if (typeof part.text === 'string') {
    const kind = part.thought === true ? 'reasoning' : 'text'
    addPart(stream.signed, part.thought === true ? 'thought' : 'text', {
      content: part.text,
      signature,
    })
    if (part.text === '') return []
    const index = stream.blocks.get(kind) ?? newIndex(stream)
    stream.blocks.set(kind, index)
    return [partEvent(kind, index, part.text)]
  }
  if (signature !== undefined) addPart(stream.signed, 'text', { signature })
  return keptApart(stream, part)
}

function signatureOf(part: Json): string | undefined {
  const signature = member(part, 'thoughtSignature')
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

function readCall(
  stream: GeminiStream,
  call: unknown,
  { exact, path }: Sent,
  signature: string | undefined,
): PartEvent[] {
  if (!isObject(call)) return spoil(stream, brokenStream('a call of the response is no object'))
  if (member(call, 'willContinue') === true || member(call, 'partialArgs') !== undefined)
    return spoil(stream, brokenStream('the arguments of a call came in pieces'))
  const index = newIndex(stream)
  addPart(stream.signed, 'call', { signature })
  stream.hasCalls = true
  const raw = call.args === undefined || call.args === null ? '' : (exact([...path, 'args']) ?? '')
  return [
    {
      kind: 'call_start',
      index,
      id: typeof call.id === 'string' && call.id !== '' ? call.id : null,
      name: typeof call.name === 'string' ? call.name : '',
      text: '',
    },
    ...textEvents('call_arguments', index, raw),
    partEvent('call_end', index, ''),
  ]
}

/** The last events: the signatures to send back, and the server's metadata. */
function endGemini(stream: GeminiStream): PartEvent[] {
  if (stream.ended) return []
  stream.ended = true
  const { signed, model, id, rawUsage: usage } = stream
  const block = stream.fault === undefined ? signedBlock(signed, model) : undefined
  return [
    ...(block === undefined
      ? []
      : [partEvent('reasoning_block', newIndex(stream), JSON.stringify(block))]),
    ...metadataEvents(newIndex(stream), { id, usage }),
  ]
}

/** The finish reason in our terms. `STOP` ends answers with calls too. */
function stopOf({ finish, hasCalls }: Pick<GeminiStream, 'finish' | 'hasCalls'>): Stop {
  if (finish === '') return 'cut'
  if (meaningOf(finish) === 'end' && hasCalls) return 'calls'
  return stopOfWord(finish)
}

function spoil(stream: GeminiStream, fault: Failed): PartEvent[] {
  return spoilAnswer(stream, fault, () => endGemini(stream))
}
