// The lenient reader of all formats: the state of an answer, its end and its faults. A format adds the
// meaning of its events. Loads no SDK, so the gateway and the proxy read answers in the same way.
// An unreadable event spoils the answer. A payload that cannot begin an event is
// skipped, and after it an end without a reason means a cut.
// A finished answer stays finished if the connection then breaks. Without a finish
// reason it is cut.

import type { PartEvent, Stop, Usage } from '../contract/messages.ts'
import { noUsage } from '../contract/turn/no-usage.ts'
import { isObject } from '../lib/json/json-object.ts'
import { answeredEvents, type SentEvent } from './event-stream.ts'
import { type ExactValues, exactValues, parseJson } from './exact-json.ts'
import type { Failed, Finished } from './exchange.ts'
import { brokenStream, interruptionOf } from './faults/provider-errors.ts'
import { faultOf } from './faults/sent-errors.ts'
import { type Secret, shortReason } from './faults/short-reason.ts'
import type { AnswerReader, Json, ReaderOptions } from './format.ts'
import { newIndex, partEvent } from './part-events.ts'

/** One answer in progress. Its reader changes it in place. */
export type OpenAnswer = {
  /** Removed from error messages of the server. */
  secret: Secret
  /** The number of emitted blocks, which gives our indexes. */
  count: number
  usage: Usage
  /** As the server sent it. */
  rawUsage: Json | undefined
  /** The provider's finish reason; empty: none yet. */
  finish: string
  /** The last event came, or an end mark that counts. */
  over: boolean
  /** A payload was skipped. */
  hasUnread: boolean
  /** The last events are out. */
  ended: boolean
  /** The reason why this attempt fails; undefined: it may still succeed. */
  fault: Failed | undefined
  /** The server's own limit of output tokens; undefined: the request's counts. */
  outputTokensMax?: number
}

export function openAnswer(secret: Secret): OpenAnswer {
  return {
    secret,
    count: 0,
    usage: noUsage,
    rawUsage: undefined,
    finish: '',
    over: false,
    hasUnread: false,
    ended: false,
    fault: undefined,
  }
}

/** How a format reads its answers. */
export type AnswerKind<Answer extends OpenAnswer> = {
  begin(options: ReaderOptions): Answer
  /** The events of a body that is no stream. Default: one event. */
  whole?(value: unknown, body: string): SentEvent[]
  /** `name`: the `event:` line. `exact`: values of the event. */
  read(answer: Answer, event: Json, sent: { name: string | null; exact: ExactValues }): PartEvent[]
  /** The mark at the end of a stream ends the answer. */
  hasEndMark: boolean
  /** Keeps the fault and shows it to readers of the stream. */
  spoil(answer: Answer, fault: Failed): PartEvent[]
  /** The last events, once. `interruption`: of the connection; undefined: none. */
  end(answer: Answer, interruption?: unknown): PartEvent[]
  /** The finish reason in our terms. */
  stop(answer: Answer): Stop
  /** The answer has calls, and nothing says that it ended. Default: each answer has an end. */
  lacksEnd?(answer: Answer): boolean
}

export function answerReader<Answer extends OpenAnswer>(
  kind: AnswerKind<Answer>,
): (options: ReaderOptions) => AnswerReader {
  const { whole = (_, data) => [{ event: null, data }] } = kind
  return (options) => {
    const answer = kind.begin(options)
    return {
      sent: (response, onBytes) => answeredEvents(response, onBytes, whole),
      read: (name, data) => readSent(kind, answer, name, data),
      isDone: () => answer.over || answer.fault !== undefined,
      end: (interruption) => kind.end(answer, interruption),
      ending: (interruption) => endingOf(kind, answer, interruption, options.outputTokensMax),
    }
  }
}

export function readSent<Answer extends OpenAnswer>(
  kind: AnswerKind<Answer>,
  answer: Answer,
  name: string | null,
  data: string,
): PartEvent[] {
  const sent = payloadOf(name, data)
  switch (sent.kind) {
    case 'object':
      return kind.read(answer, sent.value, { name, exact: sent.exact })
    case 'error':
      return kind.spoil(answer, faultOf({ message: sent.statement }))
    case 'broken':
      return kind.spoil(answer, brokenStream('an event of the stream is no JSON object'))
    case 'unread':
      answer.hasUnread = true
      return []
    case 'end':
      if (kind.hasEndMark) answer.over = true
      return []
    case 'nothing':
      return []
  }
}

/** Fails the attempt and shows the reason. `last`: events in front of it. */
export function spoil(
  answer: OpenAnswer,
  fault: Failed,
  last: () => PartEvent[] = () => [],
): PartEvent[] {
  const reason = shortReason(fault.reason, answer.secret)
  answer.fault ??= { ...fault, reason }
  return [...last(), partEvent('error', newIndex(answer), reason)]
}

function endingOf<Answer extends OpenAnswer>(
  kind: AnswerKind<Answer>,
  answer: Answer,
  interruption: unknown,
  requestedMax: number | undefined,
): Finished | Failed {
  const { fault, finish, over, usage, outputTokensMax = requestedMax } = answer
  if (fault !== undefined) return fault
  if (interruption !== undefined && finish === '' && !over) return interruptionOf(interruption)
  const stop = kind.stop(answer)
  const lacksEnd = interruption === undefined && kind.lacksEnd?.(answer) === true
  // Some servers report a normal end although the request's limit ended the answer. A longer answer
  // was not bounded by the request.
  const isAtLimit =
    ['end', 'calls', 'other'].includes(stop) && usage.outputTokens === outputTokensMax
  const ending = { kind: 'finished' as const, stop: isAtLimit ? 'length' : stop, finish, usage }
  return lacksEnd ? { ...ending, lacksEnd } : ending
}

/**
 * `object`: an event of the provider's protocol, or an error. `exact` gives its values as the
 * server wrote them. `end`: the mark that closes a stream of Chat Completions, and at some servers
 * every stream. `error`: an error that is not JSON. `broken`: an object may have been lost.
 * `unread`: no object can begin like this, so none was lost.
 */
type Payload =
  | { kind: 'object'; value: Json; exact: ExactValues }
  | { kind: 'end' | 'nothing' | 'unread' | 'broken' }
  | { kind: 'error'; statement: string }

/** `name`: the `event:` line. */
function payloadOf(name: string | null, data: string): Payload {
  const text = data.trim()
  if (text === '') return { kind: 'nothing' }
  const value = parseJson(text)
  if (isObject(value)) return { kind: 'object', value, exact: exactValues(text) }
  if (/^"?\[done\]"?$/i.test(text)) return { kind: 'end' }
  // Some gateways put an error into a list.
  const listed: unknown = Array.isArray(value)
    ? value.find((one) => isObject(one) && isObject(one.error))
    : undefined
  if (isObject(listed)) return { kind: 'object', value: listed, exact: exactValues(text) }
  if (name === 'error') return { kind: 'error', statement: text }
  return { kind: text.startsWith('{') || text.startsWith('[') ? 'broken' : 'unread' }
}
