// The strict reading of answers of Gemini, and their printing.
// One candidate, of whole parts. A part is a text, a call, or of one other kind that no
// client runs. Code of the provider counts as such only together with its result.
// A chunk is printed from the values of its parts. Signatures stay in their parts.

import { isObject } from '../../lib/json/json-object.ts'
import { finishWord, meaningOf } from '../../transcript/finish-reasons.ts'
import { stopOfWord } from '../answer-stop.ts'
import type { AnswerItem } from '../exchange.ts'
import type { Json } from '../format.ts'
import { checkNoCall } from '../strict/call-like.ts'
import {
  type ClientStream,
  fault,
  type NotRun,
  type StrictAnswer,
  type StrictFormat,
  type StrictReader,
  scalarText,
  strictAnswer,
} from '../strict/strict.ts'
import { usageIn, usageSum } from '../strict/usage-sum.ts'
import { partOf } from './answer.ts'
import { geminiUsage } from './usage.ts'

export const geminiStrict: StrictFormat = {
  ping: ': ping\n\n',
  whole: (body) => answerOf([readChunk(body)]),
  stream: chunkReader,
  body: ({ vendor }, usage) => {
    const [chunk] = vendor.chunks as Chunk[]
    return chunk === undefined ? {} : printed(chunk, usage ?? usageIn(chunk.body.usageMetadata))
  },
  client: clientStream,
  error: ({ status, type, message }) => ({
    error: { code: status, message, status: type ?? 'UNKNOWN' },
  }),
  repeated: ({ items }, results) => [
    { role: 'model', parts: items.map(partOf).filter((part) => !isEmpty(part)) },
    { role: 'user', parts: results.map(resultOf) },
  ],
}

/** Ends a stream, and is refused in a history. */
function isEmpty({ text, ...others }: Json): boolean {
  return text === '' && Object.keys(others).length === 0
}

function resultOf({ callId, name, text }: NotRun): Json {
  const id = callId === '' ? {} : { id: callId }
  return { functionResponse: { ...id, name, response: { error: text } } }
}

/**
 * `body` and `candidate`: the members next to those that are read here. `candidate` undefined: the
 * chunk has none.
 */
type Chunk = {
  body: Json
  candidate: Json | undefined
  items: AnswerItem[]
  finish: string
}

/** The members that have no call in any reader. */
const ofBody = [
  ...['candidates', 'usageMetadata', 'modelVersion', 'responseId', 'promptFeedback'],
  ...['createTime', 'modelStatus'],
]
const ofCandidate = [
  ...['content', 'finishReason', 'finishMessage', 'index', 'tokenCount', 'avgLogprobs'],
  ...['safetyRatings', 'citationMetadata', 'groundingMetadata', 'urlContextMetadata'],
  ...['groundingAttributions', 'logprobsResult'],
]
/** Code and calls that the provider runs, and the parts with their results. */
const resultKinds = new Map([
  ['executableCode', 'codeExecutionResult'],
  ['toolCall', 'toolResponse'],
])
/** The kinds of parts that no client runs. Those that the provider runs need a result. */
const unrun = [...resultKinds.keys(), ...resultKinds.values(), 'inlineData', 'fileData']
const kinds = ['text', 'functionCall', 'audioTranscription', ...unrun]
/** The members of a part next to its kind. */
const ofPart = [
  ...['thought', 'thoughtSignature', 'thought_signature', 'partMetadata', 'videoMetadata'],
  'mediaResolution',
]

function readChunk(chunk: Json): Chunk {
  checkNoCall(chunk, ofBody)
  const { candidates = [], ...body } = chunk
  if (!Array.isArray(candidates) || candidates.length > 1)
    throw fault('it has more than one candidate')
  const given: unknown = candidates[0]
  const feedback = isObject(body.promptFeedback) ? body.promptFeedback : {}
  const blocked = finishWord(feedback.blockReason)
  const finish = blocked === '' ? '' : `PROMPT_BLOCKED_${blocked}`
  if (given === undefined) return { body, candidate: undefined, items: [], finish }
  if (!isObject(given) || (given.index ?? 0) !== 0) throw fault('it has more than one candidate')
  checkNoCall(given, ofCandidate)
  const { content = {}, ...candidate } = given
  if (!isObject(content)) throw fault('its content is no object')
  if ((content.role ?? 'model') !== 'model') throw fault('it is no content of a model')
  checkNoCall(content, ['role', 'parts'])
  const { parts = [] } = content
  if (!Array.isArray(parts)) throw fault('its parts are no list')
  return { body, candidate, items: parts.map(itemOf), finish: finishWord(given.finishReason) }
}

function itemOf(part: unknown): AnswerItem {
  if (!isObject(part)) throw fault('a part of it is no object')
  const names = Object.keys(part).filter((name) => !ofPart.includes(name))
  if (names.length > 1) throw fault('a part of it is of two kinds')
  if (!names.every((name) => kinds.includes(name)))
    throw fault('it has a part that Weir does not know')
  const { text, functionCall: call, ...vendor } = part
  checkNoCall(vendor, unrun)
  if (call !== undefined) return { ...callIn(call), vendor }
  if (text === undefined) return { kind: 'vendor', vendor: part }
  if (typeof text !== 'string') throw fault('a text of it is no text')
  return vendor.thought === true ? { kind: 'vendor', vendor: part } : { kind: 'text', text, vendor }
}

/** Adds the code without a result yet, which a client could run, and removes that with one. */
function noteUnrun(open: string[], items: readonly AnswerItem[]): void {
  for (const { vendor = {} } of items)
    for (const [code, result] of resultKinds) {
      if (vendor[code] !== undefined) open.push(placeOf(result, vendor[code]))
      const at = vendor[result] === undefined ? -1 : open.indexOf(placeOf(result, vendor[result]))
      if (at >= 0) open.splice(at, 1)
    }
}

function placeOf(result: string, part: unknown): string {
  return `${result} ${isObject(part) ? scalarText(part.id) : ''}`
}

function callIn(call: unknown): Extract<AnswerItem, { kind: 'call' }> {
  if (!isObject(call)) throw fault('a call of it is no object')
  const { id = '', name, args, ...others } = call
  if (Object.keys(others).length > 0) throw fault('a call of it comes in pieces, or has two forms')
  if (typeof id !== 'string') throw fault('a call of it has an id that is no text')
  if (typeof name !== 'string' || name === '') throw fault('a call of it has no name')
  if (args !== undefined && !isObject(args)) throw fault('the arguments of a call are no object')
  return { kind: 'call', id, name, arguments: args === undefined ? '' : JSON.stringify(args) }
}

function printed({ body, candidate, items }: Chunk, usage: Json | undefined): Json {
  const content = { role: 'model', parts: items.map(partOf) }
  return {
    ...(candidate !== undefined && { candidates: [{ content, ...candidate }] }),
    ...body,
    ...(usage !== undefined && { usageMetadata: usage }),
  }
}

/** `held`: the chunks that the client has not got yet. */
function answerOf(chunks: readonly Chunk[], held: readonly Chunk[] = chunks): StrictAnswer {
  const finish = chunks.find((chunk) => chunk.finish !== '')?.finish ?? ''
  if (finish === '') throw fault('the answer was cut')
  const items = chunks.flatMap((chunk) => chunk.items)
  const unrunCode: string[] = []
  noteUnrun(unrunCode, items)
  if (unrunCode.length > 0) throw fault('code in it has no result, so a client could run it')
  const rawUsage = usageIn(
    chunks.findLast(({ body }) => usageIn(body.usageMetadata))?.body.usageMetadata,
  )
  const first = chunks[0]?.body ?? {}
  const hasCalls = items.some(({ kind }) => kind === 'call')
  return strictAnswer({
    id: first.responseId,
    model: first.modelVersion,
    items,
    stop: hasCalls && meaningOf(finish) === 'end' ? 'calls' : stopOfWord(finish),
    finish,
    vendor: { chunks: held },
    rawUsage,
    usageOf: geminiUsage,
  })
}

function chunkReader(): StrictReader {
  const chunks: Chunk[] = []
  /** The number of chunks that the client has. */
  let shown = 0
  const unrunCode: string[] = []
  let [isHeld, hasFailed] = [false, false]
  let finish = ''

  return {
    read(data) {
      if (data === '[DONE]') throw fault('it has a mark of another API')
      if (hasFailed) throw fault('events follow its end')
      const chunk = readChunk(data)
      if (isObject(data.error)) {
        // The official SDK takes the parts next to an error in an event.
        if (chunk.items.length > 0) throw fault('it has an answer next to an error')
        hasFailed = true
        return [data]
      }
      if (finish !== '' && chunk.items.some(isSomething))
        throw fault('a text or a call follows its end')
      if (finish !== '' && chunk.finish !== '' && chunk.finish !== finish)
        throw fault('it ends twice')
      finish ||= chunk.finish
      chunks.push(chunk)
      noteUnrun(unrunCode, chunk.items)
      isHeld ||= chunk.finish !== '' || chunk.items.some(({ kind }) => kind === 'call')
      if (isHeld || unrunCode.length > 0) return []
      const fresh = chunks.slice(shown)
      shown = chunks.length
      return fresh.map((one) => printed(one, usageIn(one.body.usageMetadata)))
    },
    end() {
      if (hasFailed) throw fault('the provider reports an error in it')
      return answerOf(chunks, chunks.slice(shown))
    },
  }
}

function isSomething(item: AnswerItem): boolean {
  return item.kind === 'call' || (item.kind === 'text' && item.text !== '')
}

function clientStream(): ClientStream {
  let isFirst = true
  let id: unknown
  let visible = ''
  let needsBlank = false
  let usage: Json | undefined

  /** A chunk of the model, as one of the client's answer. */
  function placed(chunk: Json): Json[] {
    const text = textIn(chunk)
    id ??= chunk.responseId
    visible += text
    if (isFirst) return [chunk]
    const counted = usageIn(chunk.usageMetadata)
    const made = {
      ...chunk,
      ...(id !== undefined && { responseId: id }),
      ...(counted !== undefined && { usageMetadata: usageSum(usage, counted) }),
    }
    if (text === '' || !needsBlank) return [made]
    needsBlank = false
    const { modelVersion, responseId } = made as Json
    const content = { role: 'model', parts: [{ text: '\n\n' }] }
    return [{ candidates: [{ content, index: 0 }], modelVersion, responseId }, made]
  }

  return {
    shown: (events) => events.flatMap(placed),
    rest: ({ vendor }) =>
      (vendor.chunks as Chunk[]).flatMap((chunk) =>
        placed(printed(chunk, usageIn(chunk.body.usageMetadata))),
      ),
    denied({ rawUsage }) {
      usage = usageSum(usage, rawUsage)
      isFirst = false
      needsBlank = visible !== ''
    },
    failed: (code, message) => ({
      error: {
        code: 502,
        message,
        status: 'UNAVAILABLE',
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code }],
      },
    }),
    text: () => visible,
  }
}

function textIn({ candidates }: Json): string {
  const [candidate] = (candidates as { content: { parts: Json[] } }[] | undefined) ?? []
  const parts = candidate?.content.parts ?? []
  return parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join('')
}
