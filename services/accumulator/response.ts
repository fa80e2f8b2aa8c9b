// Folds the events of one whole attempt into a response: visible text, thinking blocks as sent, and
// calls in the order in which they began. All sources of a call's arguments are kept side by side
// until the end, and call.ts decides between them.

import { isPlaceholder } from '../../shared/contract/arguments/no-arguments.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  ModelFinished,
  PartEvent,
  Response,
  RoundFailure,
} from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { jsonFault } from '../../shared/lib/json/json-fault.ts'
import { plainJson } from '../../shared/lib/json/same-json.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { argumentsFrom, finalCall, type StreamedCall } from './call.ts'
import {
  addExtra,
  addPiece,
  begunCalls,
  hasBegun,
  markFreeText,
  newPiecedCalls,
  type PiecedCalls,
} from './call-pieces.ts'
import { firstObject, textFrom } from './piece-texts.ts'

/** The facts about a response that its parts lack. */
export type ResponseEnd = Pick<ModelFinished, 'attempt' | 'stop' | 'finish' | 'usage'>

/** The response next to a failure. Its tokens were used all the same. */
export function emptyResponse({ attempt, stop, finish, usage }: ResponseEnd): Response {
  return { attempt, text: '', reasoning: '', calls: [], stop, finish, usage, textCalls: null }
}

/**
 * The response that the parts make in their order, or an empty one with a failure (`failureOf`).
 * `offered`: the names of the offered tools.
 */
export function foldResponse(
  parts: PartEvent[][],
  finished: ResponseEnd,
  offered: readonly string[],
): { response: Response; failure: RoundFailure | null } {
  const stream = newStream(offered)
  for (const events of parts) for (const event of events) read(stream, event)
  const streamed = streamedCalls(stream)
  for (const block of extraBlocks(streamed)) keepBlock(stream, block)

  const empty = emptyResponse(finished)
  const failure = failureOf(stream, streamed.length)
  if (failure !== null) return { response: empty, failure }

  const { errors } = stream
  const strayArguments =
    stream.strayArguments ||
    (streamed.some(isEmpty) && streamed.some((call) => hasSurplus(call) || isFragment(call)))
  const calls = streamed.map((call, ordinal) =>
    finalCall(call, {
      ordinal,
      stop: finished.stop,
      last: ordinal === streamed.length - 1,
      broken: errors.length > 0,
      strayArguments,
    }),
  )
  const reasoning = stream.thinkingBlocks.length === 0 ? '' : `[${stream.thinkingBlocks.join(',')}]`
  return { response: { ...empty, text: stream.texts.join(''), reasoning, calls }, failure: null }
}

type Stream = {
  texts: string[]
  /** JSON texts, as the provider wants them back. */
  thinkingBlocks: string[]
  /** By the gateway's index. A Map keeps the order in which they began. */
  calls: Map<number, StreamedCall>
  /** Calls of a format without blocks. */
  pieced: PiecedCalls
  /** Argument bytes came for a call that never began. */
  strayArguments: boolean
  /** Errors that the provider reported inside the stream. */
  errors: string[]
}

function newStream(offered: readonly string[]): Stream {
  return {
    texts: [],
    thinkingBlocks: [],
    calls: new Map(),
    pieced: newPiecedCalls(offered),
    strayArguments: false,
    errors: [],
  }
}

function read(stream: Stream, event: PartEvent): void {
  const { kind, index, text } = event
  switch (kind) {
    case 'text':
    case 'refusal': // the only text that the user sees
      stream.texts.push(text)
      return
    case 'reasoning':
      return // shown while it streams, but only the finished block counts
    case 'reasoning_block':
      keepBlock(stream, text)
      return
    case 'call_start':
    case 'call_whole':
      beginCall(stream, event)
      return
    case 'call_free_text':
      if (!stream.calls.has(index)) markFreeText(stream.pieced)
      addToCall(stream, stream.calls.get(index), event)
      return
    case 'call_arguments':
    case 'call_done':
    case 'call_end':
      addToCall(stream, stream.calls.get(index), event)
      return
    case 'call_piece':
    case 'call_piece_beside':
      addPiece(stream.pieced, event)
      return
    case 'call_extra':
      addExtra(stream.pieced, event)
      return
    case 'error':
      stream.errors.push(text)
      return
    case 'kept_apart':
    case 'provider_said':
      return // for people who read the log
    default:
      unreachable(kind)
  }
}

/** The next request's builder parses all blocks as one array. */
function keepBlock(stream: Stream, text: string): void {
  if (jsonFault(text, limits.argumentDepthMax) !== undefined)
    throw new WeirError(
      'runtime.assertion',
      `a thinking block of the gateway is not JSON: ${text.slice(0, 200)}`,
    )
  stream.thinkingBlocks.push(text)
}

function beginCall({ calls }: Stream, { kind, index, id, name, text }: PartEvent): void {
  if (calls.has(index))
    throw new WeirError(
      'runtime.assertion',
      `the gateway began two calls with the index ${index} in one attempt`,
    )
  calls.set(index, {
    id: id ?? '',
    name: name ?? '',
    extra: undefined,
    deltas: [],
    dones: [],
    start: text,
    isInMessage: kind === 'call_whole',
    end: 'open',
    isFreeText: false,
  })
}

function addToCall(
  stream: Stream,
  call: StreamedCall | undefined,
  { kind, text }: PartEvent,
): void {
  if (call === undefined) stream.strayArguments ||= text !== ''
  else if (kind === 'call_arguments' && text !== '') call.deltas.push(text)
  else if (kind === 'call_done') call.dones.push(text)
  else if (kind === 'call_free_text') call.isFreeText = true
  else if (kind === 'call_end') call.end = 'closed'
}

/**
 * All calls in the order in which they began. No format has both kinds. If a piece belongs to no
 * call, some call lacks it.
 */
function streamedCalls(stream: Stream): StreamedCall[] {
  const { pieced, calls } = stream
  stream.strayArguments ||=
    pieced.isMixed || pieced.calls.some((call) => !hasBegun(call) && call.pieces.length > 0)
  const begun = begunCalls(pieced).map(({ id, name, pieces, extra, isFreeText }): StreamedCall => {
    return {
      id,
      name,
      extra,
      deltas: pieces,
      dones: [],
      start: '',
      isInMessage: false,
      end: 'none',
      isFreeText,
    }
  })
  return withoutRepeats(withFinals([...calls.values(), ...begun]))
}

/**
 * Pieces that break off are the beginning of the final arguments. Those are used if no other final
 * arguments of the response begin so: then the pieces cannot belong to another call.
 */
function withFinals(calls: StreamedCall[]): StreamedCall[] {
  if (calls.every(({ dones }) => dones.length === 0)) return calls
  return calls.map((call) => {
    const sent = textFrom(call.deltas)
    if (sent.trim() === '' || jsonFault(sent, limits.argumentDepthMax) === undefined) return call
    const begun = new Set<string>()
    for (const { dones } of calls)
      for (const done of dones) if (done.startsWith(sent)) begun.add(done)
    const [final = '', ...others] = begun
    const isFinal =
      others.length === 0 && call.dones.includes(final) && firstObject(final) === final
    return isFinal ? { ...call, final } : call
  })
}

/**
 * Removes calls that came twice with the same id, name and arguments. Other arguments, or no id,
 * make another call: some servers give all calls of a response the same id. A call without
 * arguments only announces its twin with arguments.
 */
function withoutRepeats(calls: StreamedCall[]): StreamedCall[] {
  if (calls.length < 2) return calls
  const byTool = Map.groupBy(calls, ({ id, name }) => JSON.stringify([id, name]))
  const repeats = [...byTool.values()].flatMap((alike) =>
    alike.length > 1 && alike[0]?.id !== '' ? repeatsIn(alike) : [],
  )
  if (repeats.length === 0) return calls
  const repeated = new Set(repeats)
  return calls.filter((call) => !repeated.has(call))
}

/** The calls that add nothing. An open call is no repeat of a closed one. */
function repeatsIn(alike: StreamedCall[]): StreamedCall[] {
  const rawTexts = alike.map((call) => argumentsFrom(call).raw)
  const hasArguments = rawTexts.some((raw) => raw !== '')
  const seen = new Set<string>()
  return alike.filter((call, n) => {
    const raw = rawTexts[n] as string
    if (raw === '' && hasArguments) return true
    const key = JSON.stringify([call.end, plainJson(raw) ?? raw])
    const isRepeat = seen.has(key)
    seen.add(key)
    return isRepeat
  })
}

/**
 * Another object begins after the first whole one, so this call received the arguments of another.
 */
function hasSurplus(call: StreamedCall): boolean {
  const { raw } = argumentsFrom(call)
  const first = firstObject(raw)
  return first !== undefined && raw.startsWith('{', first.length)
}

/** No piece had arguments, or a placeholder stands for them. */
function isEmpty({ deltas }: StreamedCall): boolean {
  return isPlaceholder(deltas.join(''))
}

/**
 * Its arguments are the middle or the end of a text, in a format that does not name a piece's call.
 * A fence around arguments is readable.
 */
function isFragment(call: StreamedCall): boolean {
  const raw = argumentsFrom(call).raw.trimStart()
  return (
    call.end === 'none' &&
    !call.isFreeText &&
    raw !== '' &&
    !/^[{`]/.test(raw) &&
    jsonFault(raw, limits.argumentDepthMax) !== undefined
  )
}

/** Data that a server wants back with its calls, as a block for the builder of the next request. */
function extraBlocks(calls: StreamedCall[]): string[] {
  return calls.flatMap(({ extra }, ordinal) =>
    extra === undefined
      ? []
      : [`{"model":${JSON.stringify(extra.model)},"extra_content":{"${ordinal}":${extra.text}}}`],
  )
}

/**
 * The reason why these events make no response although the attempt was whole, or null. An error or
 * stray argument bytes that no call can report must not become an answer that looks complete. A
 * response with too many calls is not cut to some of them.
 */
function failureOf({ errors, strayArguments }: Stream, calls: number): RoundFailure | null {
  if (calls > limits.responseCallsMax)
    return {
      class: 'provider',
      reason: `the response has ${calls} calls, and at most ${limits.responseCallsMax} are taken`,
    }
  if (calls > 0) return null
  if (errors[0] !== undefined)
    return {
      class: 'provider',
      reason: shortened(
        `the provider reported an error inside its stream: ${errors[0]}`,
        limits.reasonBytesMax,
      ),
    }
  if (strayArguments)
    return { class: 'provider', reason: 'the response has arguments of a call that never began' }
  return null
}
