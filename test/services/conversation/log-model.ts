// A partition of the conversation's inbox, folded as the runtime must fold it, with every record
// that may be appended next. refold.unit.test.ts checks claims about whole logs in it. Each variant
// except `checked` omits one rule of CONV-2.
// The model is simpler than the runtime: no duplicates, no crashes between outputs, and append
// times that never go back.

import { isDeepStrictEqual } from 'node:util'
import { type Conversation, conversation } from '../../../services/conversation/reducer.ts'
import type {
  CancelRequested,
  Carried,
  RoundOutcome,
  Tick,
  TurnFailed,
  UserMessage,
} from '../../../shared/contract/messages.ts'
import type { Output, Reaction, Received } from '../../../shared/contract/stage.ts'
import { all, cancels, outcome, says, tick, turnFailed } from './samples.ts'

type In = UserMessage | CancelRequested | RoundOutcome | TurnFailed | Carried | Tick

/**
 * `checked`: all rules.
 *
 * `stay`: a record that changes nothing does not move the last offset of the unit.
 *
 * `sleep`: the same for a tick before its time, which is in the log too.
 *
 * `open`: a message opens a turn while a carried is in flight, instead of waiting.
 *
 * `keep`: a carried that does not count is written again with its old state, not with the current
 * one.
 */
export type Variant = 'checked' | 'stay' | 'sleep' | 'open' | 'keep'

export type Unit = { first: number; last: number; state: Conversation }
export type Entry = { message: In; time: number }

/**
 * The log, the units that it folds to, the records in flight, and the outcome of each message.
 * `dropped`: messages that were finished without a turn.
 */
export type World = {
  log: Entry[]
  units: Map<string, Unit>
  inFlight: Carried[]
  sent: string[]
  opened: string[]
  finished: string[]
  dropped: string[]
}

export const start: World = {
  log: [],
  units: new Map(),
  inFlight: [],
  sent: [],
  opened: [],
  finished: [],
  dropped: [],
}

/** Applies one record as the runtime does. Returns the unit and the written records. */
function step(
  variant: Variant,
  unit: Unit | undefined,
  { message, time }: Entry,
  at: number,
): { unit: Unit | undefined; records: Output[] } {
  if (message.type === 'tick') {
    if (unit === undefined) return { unit, records: [] }
    const due = conversation.due(unit.state)
    if (due === undefined || time < due)
      return { unit: variant === 'sleep' ? unit : { ...unit, last: at }, records: [] }
  }
  const {
    state,
    records = [],
    anew,
  } = reactAs(variant, unit?.state, { message, offset: at, previous: unit?.last, time })
  if (state === undefined) return { unit: undefined, records }
  if (unit !== undefined && variant === 'stay' && state === unit.state) return { unit, records }
  return {
    unit: {
      first: unit === undefined || anew === true ? at : unit.first,
      last: at,
      state: frozen(state),
    },
    records,
  }
}

function reactAs(
  variant: Variant,
  state: Conversation | undefined,
  record: Received<In>,
): Reaction<Conversation> {
  const { message, time } = record
  if (variant === 'open' && state?.phase === 'carrying' && message.type === 'user-message') {
    return conversation.react(
      { phase: 'idle', since: time, queue: state.queue, recentMessageIds: state.recentMessageIds },
      record,
    )
  }
  const reaction = conversation.react(state, record)
  if (variant !== 'keep' || message.type !== 'carried') return reaction
  const records = reaction.records?.map(
    (output): Output =>
      output.message.type === 'carried'
        ? { ...output, message: { ...output.message, state: message.state } }
        : output,
  )
  return { ...reaction, records: records ?? [] }
}

/**
 * The units that result from the records at `from` and later: the state of a new owner that begins
 * there.
 */
export function fold(variant: Variant, log: Entry[], from: number): Map<string, Unit> {
  const units = new Map<string, Unit>()
  for (const [at, entry] of log.entries()) {
    if (at < from) continue
    const { unit } = step(variant, units.get(entry.message.conversation), entry, at)
    put(units, entry.message.conversation, unit)
  }
  return units
}

/** The world after one more record. */
export function append(variant: Variant, world: World, message: In, time: number): World {
  const entry = { message, time }
  const units = new Map(world.units)
  const { unit, records } = step(variant, units.get(message.conversation), entry, world.log.length)
  put(units, message.conversation, unit)
  const landed = message.type === 'carried' ? world.inFlight.indexOf(message) : -1
  const isNew = message.type === 'user-message' && !world.sent.includes(message.messageId)
  const opened = [
    ...world.opened,
    ...all(records, 'turn-started').map(({ messageId }) => messageId),
  ]
  const finished = all(records, 'turn-finished').map(({ messageId }) => messageId)
  return {
    log: [...world.log, entry],
    units,
    inFlight: [...world.inFlight.filter((_, i) => i !== landed), ...all(records, 'carried')],
    sent: isNew ? [...world.sent, message.messageId] : world.sent,
    opened,
    finished: [...world.finished, ...finished],
    dropped: [...world.dropped, ...finished.filter((id) => !opened.includes(id))],
  }
}

/** A record that may come next. `time`: its earliest time. */
export type Next = { message: In; time: number }

/**
 * Every record that may be appended to the log of these conversations, including some that change
 * nothing.
 */
export function nextOf(world: World, conversations: string[]): Next[] {
  const now = (world.log.at(-1)?.time ?? 0) + 1
  const next: Next[] = []
  for (const key of conversations) {
    const sent = world.sent.filter((id) => id.startsWith(key)).length
    next.push({
      message: says(`${key}${sent}`, { conversation: key, declarations: [] }),
      time: now,
    })
    const unit = world.units.get(key)
    const landing = world.inFlight.find((carried) => carried.conversation === key)
    if (landing !== undefined) next.push({ message: landing, time: now })
    if (unit === undefined) continue
    const { state } = unit
    next.push({ message: cancels('nobody', key), time: now })
    if (state.phase === 'open')
      next.push({ message: cancels(state.turn.message.messageId, key), time: now })
    if (state.phase === 'open') next.push({ message: answer(key, state.turn.turn), time: now })
    if (state.phase === 'waiting')
      next.push({ message: answer(key, state.outstanding.turn), time: now })
    const due = conversation.due(state)
    if (due !== undefined) next.push({ message: tick(key), time: Math.max(now, due) })
    if (due === undefined || due > now) next.push({ message: tick(key), time: now })
  }
  return next
}

/**
 * More records of the same kinds, omitted in the search of all logs: repeats, cancels of waiting
 * messages, failures, refused messages.
 */
export function furtherOf(world: World, conversations: string[]): Next[] {
  const time = (world.log.at(-1)?.time ?? 0) + 1
  const further: Next[] = []
  for (const key of conversations) {
    const number = world.sent.filter((id) => id.startsWith(key)).length
    further.push({ message: says(`${key}${number}`, { conversation: key, agent: '' }), time })
    const unit = world.units.get(key)
    if (unit === undefined) continue
    for (const id of unit.state.recentMessageIds)
      further.push({ message: says(id, { conversation: key }), time })
    for (const { messageId } of unit.state.queue)
      further.push({ message: cancels(messageId, key), time })
    further.push({ message: turnFailed({ conversation: key, turn: null }), time })
    if (unit.state.phase === 'waiting') {
      further.push({
        message: turnFailed({
          conversation: key,
          turn: unit.state.outstanding.turn,
          stage: 'executor',
        }),
        time,
      })
    }
  }
  return further
}

function answer(key: string, turn: number): RoundOutcome {
  return outcome(turn, 1, { conversation: key, text: 'done' })
}

/** The first broken claim in this world. Undefined: none. */
export function faultIn(
  variant: Variant,
  world: World,
  conversations: string[],
): string | undefined {
  const { log, units, finished, dropped } = world
  const low = Math.min(log.length, ...[...units.values()].map(({ first }) => first))
  const again = fold(variant, log, low)
  if (!isDeepStrictEqual(again, units))
    return `from ${low} the fold gives ${brief(again)}, it was ${brief(units)}`
  for (const key of conversations) {
    const mine = (ids: string[]) => ids.filter((id) => id.startsWith(key))
    const [sent, opened] = [mine(world.sent), mine(world.opened)]
    const waiting = units.get(key)?.state.queue.map(({ messageId }) => messageId) ?? []
    const expected = sent.filter((id) => !dropped.includes(id))
    if (!isDeepStrictEqual([...opened, ...waiting], expected))
      return `${key}: sent ${expected}; opened ${opened}; waiting ${waiting}`
    if (new Set(mine(finished)).size !== mine(finished).length)
      return `${key}: answered twice: ${mine(finished)}`
  }
  return undefined
}

function put(units: Map<string, Unit>, key: string, unit: Unit | undefined): void {
  if (unit === undefined) units.delete(key)
  else units.set(key, unit)
}

function brief(units: Map<string, Unit>): string {
  const one = ([key, { first, last, state }]: [string, Unit]) =>
    `${key}: ${state.phase} [${first}, ${last}] ${JSON.stringify(state).length} bytes`
  return [...units].map(one).join('; ') || 'nothing'
}

/** Prints the log. */
export function printed({ log }: World): string {
  return log
    .map(({ message, time }, at) => `${at} ${message.conversation} ${message.type} at ${time}`)
    .join('\n')
}

/** Worlds share states, so no state may change in place. */
function frozen(state: Conversation): Conversation {
  return Object.freeze(state)
}
