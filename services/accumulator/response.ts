// Folds the events of one whole attempt into a response: visible text, thinking blocks as sent, calls in the order in which they began.
// What the stream tells about a call lies side by side until the end; call.ts decides what it means.

import { WeirError } from '../../shared/errors.ts'
import { jsonFault } from '../../shared/json-fault.ts'
import { limits } from '../../shared/limits.ts'
import type { ModelFinished, PartEvent, Response, RoundFailure } from '../../shared/messages.ts'
import { unreachable } from '../../shared/stage.ts'
import { shortened } from '../../shared/text-cut.ts'
import type { StreamedCall } from './call.ts'
import { finalCall } from './call.ts'

/** The response beside a failure. Its tokens were used all the same. */
export function emptyResponse({ attempt, stop, finish, usage }: ModelFinished): Response {
  return { attempt, text: '', reasoning: '', calls: [], stop, finish, usage, textCalls: null }
}

/** The response that the parts make, in their order, or an empty one and why: see `failureOf`. */
export function foldResponse(parts: PartEvent[][], finished: ModelFinished): { response: Response; failure: RoundFailure | null } {
  const stream = newStream()
  for (const events of parts) for (const event of events) read(stream, event)

  const empty = emptyResponse(finished)
  const failure = failureOf(stream)
  if (failure !== null) return { response: empty, failure }

  const streamed = [...stream.calls.values()]
  const calls = streamed.map((call) =>
    finalCall(call, { stop: finished.stop, last: call.ordinal === streamed.length - 1, strayArguments: stream.strayArguments }),
  )
  const reasoning = stream.thinkingBlocks.length === 0 ? '' : `[${stream.thinkingBlocks.join(',')}]`
  return { response: { ...empty, text: stream.texts.join(''), reasoning, calls }, failure: null }
}

type Stream = {
  texts: string[]
  /** JSON texts, as the provider wants them back. */
  thinkingBlocks: string[]
  /** By the gateway's index; a Map keeps the order in which they began. */
  calls: Map<number, StreamedCall>
  /** Argument bytes came for a call that never began. */
  strayArguments: boolean
  /** What the provider reported inside the stream. */
  errors: string[]
}

function newStream(): Stream {
  return { texts: [], thinkingBlocks: [], calls: new Map(), strayArguments: false, errors: [] }
}

function read(stream: Stream, { kind, index, id, name, text }: PartEvent): void {
  const call = stream.calls.get(index)
  switch (kind) {
    case 'text':
      stream.texts.push(text)
      return
    case 'reasoning':
      return // shown while it streams; what counts is the finished block
    case 'reasoning_block':
      // Whoever builds the next request parses them as one array.
      if (jsonFault(text, limits.argumentDepthMax) !== undefined)
        throw new WeirError('runtime.assertion', `a thinking block of the gateway is not JSON: ${text.slice(0, 200)}`)
      stream.thinkingBlocks.push(text)
      return
    case 'call_start':
      if (call !== undefined) throw new WeirError('runtime.assertion', `the gateway began two calls with the index ${index} in one attempt`)
      stream.calls.set(index, {
        ...{ ordinal: stream.calls.size, id: id ?? '', name: name ?? '', start: text, deltas: [] },
        ...{ ended: false, broken: stream.errors.length > 0 },
      })
      return
    case 'call_arguments':
      if (call !== undefined) call.deltas.push(text)
      else if (text !== '') stream.strayArguments = true
      return
    case 'call_end':
      if (call !== undefined) call.ended = true
      return
    case 'error':
      stream.errors.push(text)
      for (const open of stream.calls.values()) open.broken ||= !open.ended
      return
    default:
      unreachable(kind)
  }
}

/**
 * Why these events are no response although the attempt was whole; null: they are one. An error or argument bytes that no call can report must not
 * end as an answer that looks complete, and a response with too many calls is not cut to some of them.
 */
function failureOf({ calls, errors, strayArguments }: Stream): RoundFailure | null {
  if (calls.size > limits.responseCallsMax)
    return { class: 'provider', reason: `the response has ${calls.size} calls, and at most ${limits.responseCallsMax} are taken` }
  if (calls.size > 0) return null
  if (errors[0] !== undefined)
    return { class: 'provider', reason: shortened(`the provider reported an error inside its stream: ${errors[0]}`, limits.reasonBytesMax) }
  if (strayArguments) return { class: 'provider', reason: 'the response has arguments of a call that never began' }
  return null
}
