// The calls of a conversation that its client runs: those that wait for a result, and the results
// that the client sends. They read the log, so any process can answer the call of another.
// Nothing is decided here. A result is a record, and the event `call-finished`
// names the one that counts. Equal results of a call are one result, so a repeat is harmless.

import { hash } from 'node:crypto'
import { rangeSince } from '../../shared/bus/range.ts'
import { argumentsOf, type CallArguments } from '../../shared/contract/call/call-arguments.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { CallFinished, ResultSent } from '../../shared/contract/messages.ts'
import { messageError, WeirError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import type { RoundView } from '../../shared/view/round-view.ts'
import { addToTurn, beginTurn } from '../../shared/view/turn-view.ts'
import type { Edge } from '../edge/edge.ts'
import { pastRecords } from '../edge/past-records.ts'
import { needOptions } from '../given-options.ts'
import { openingOf, type Place } from '../turn/opening.ts'
import type { CallPlace } from '../turn/turn-event.ts'
import { newestTurns } from './conversation-turns.ts'

/** The wait for the end of a call after its client has sent the result. */
const resultSentWaitMs = 10_000

/** A call that its client runs. `until`: the time of the log at which its outcome is unknown. */
export type OfferedCall = CallPlace & CallArguments & { name: string; until: number }

/** The result of a call that a client ran. `isError`: the call failed, and `text` is the reason. */
export type SentResult = { text: string; isError?: boolean }

/** For a listener that waits for the end of a call. */
const endsOfCalls = new Set(['call-finished'] as const)

/** The calls of the newest turn that wait for a result. */
export async function offeredCalls(
  place: Place,
  conversation: ConversationId,
): Promise<OfferedCall[]> {
  const [turn] = await newestTurns(place, conversation)
  if (turn === undefined) return []
  const calls = await callsOfTurn(place, conversation, turn)
  return calls.filter(({ end }) => end === undefined).map(({ call }) => call)
}

/** `edge`: sends the result and waits until it counts. */
export type ResultSender = { place: Place; edge: Pick<Edge, 'sendResult' | 'onActivity'> }

/** See Conversation.sendResult. */
export async function sendResult(
  { place, edge }: ResultSender,
  conversation: ConversationId,
  call: CallPlace,
  given: SentResult,
): Promise<void> {
  const { turn, round, ordinal } = call
  const { text, isError } = checkedResult(given)
  const at = { conversation, turn, round, ordinal }
  const resultId = hash('sha256', JSON.stringify([isError, text])).slice(0, 32)
  const { promise: ended, resolve, reject } = Promise.withResolvers<CallFinished>()
  ended.catch(() => {}) // it may fail before it is awaited
  const { stop } = await edge.onActivity(
    conversation,
    {
      onRecord({ message }) {
        if (message.type === 'call-finished' && isSamePlace(message, call)) resolve(message)
      },
      onFailure: reject,
    },
    endsOfCalls,
  )
  try {
    const calls = await callsOfTurn(place, conversation, turn)
    const known = calls.find((one) => isSamePlace(one.call, call))
    if (known === undefined)
      throw new WeirError(
        'call.unknown',
        'no such call was offered to the client of this conversation: give the turn, the round and the ordinal of a call-offered event',
      )
    if (known.end !== undefined) return assertCounts(known.end, resultId)
    const message: ResultSent = { type: 'result-sent', ...at, resultId, isError, text }
    await edge.sendResult(message)
    const end = await atMost(resultSentWaitMs, place, ended)
    if (end !== undefined) assertCounts(end, resultId)
  } finally {
    stop()
  }
}

/** Throws `call.over`. */
function assertCounts({ resultId, reason, status }: CallFinished, sent: string): void {
  if (resultId === sent) return
  throw new WeirError(
    'call.over',
    resultId === ''
      ? `the call ended without a result of its client (${status}: ${reason}), so this one came too late`
      : 'the call has another result already: the first one counts',
  )
}

/** Undefined: the time is over. No stage may run now, and the events show the end later. */
async function atMost<Value>(
  ms: number,
  { bus: { clock } }: Place,
  value: Promise<Value>,
): Promise<Value | undefined> {
  const { promise: passed, resolve } = Promise.withResolvers<undefined>()
  const cancel = clock.after(ms, () => resolve(undefined))
  try {
    return await Promise.race([value, passed])
  } finally {
    cancel()
  }
}

/** Throws `message.invalid`. */
function checkedResult(given: SentResult): Required<SentResult> {
  const example = "{ text: 'done' }"
  needOptions(given, { code: 'message.invalid', subject: 'the result', example })
  const { text, isError = false } = given
  if (typeof text !== 'string' || typeof isError !== 'boolean')
    throw messageError(
      `the result has text ${shown(text)} and isError ${shown(isError)}: give a text, and true or false`,
    )
  const bytes = Buffer.byteLength(text)
  if (bytes <= limits.resultBytesMax) return { text, isError }
  throw messageError(`the result has ${bytes} bytes: at most ${limits.resultBytesMax} are allowed`)
}

type KnownCall = { call: OfferedCall; end: CallFinished | undefined }

/** The calls of a turn that were offered. */
async function callsOfTurn(
  place: Place,
  conversation: ConversationId,
  turn: number,
): Promise<KnownCall[]> {
  const opening = Number.isSafeInteger(turn) ? await openingOf(place, turn) : undefined
  if (opening === undefined) return []
  const { bus, topicPrefix, partition } = place
  const range = await rangeSince(bus, { topic: `${topicPrefix}activity`, partition }, opening.time)
  const view = beginTurn(turn, opening.time)
  for await (const record of pastRecords(bus, range, conversation, shownOfCalls))
    if (record.message.turn === turn) addToTurn(view, { topic: 'activity', ...record }, 'all')
  return [...view.rounds.values()].flatMap(offeredIn)
}

/** The records that show an offered call. */
const shownOfCalls = new Set(['model-answered', 'call-offered', 'call-finished'] as const)

function offeredIn({ calls }: RoundView): KnownCall[] {
  return [...calls.values()].flatMap(({ answered, offered, finished: end }) => {
    if (offered === undefined) return []
    const { turn, round, ordinal, name, until } = offered
    return [{ call: { turn, round, ordinal, name, ...argumentsOf(answered), until }, end }]
  })
}

function isSamePlace(one: CallPlace, other: CallPlace): boolean {
  return one.turn === other.turn && one.round === other.round && one.ordinal === other.ordinal
}
