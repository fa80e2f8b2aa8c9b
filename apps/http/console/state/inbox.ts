// The calls that wait for a person, the last decisions, and the arguments of the last allowed call
// of each tool. Pure.
// It decides nothing: a call leaves the inbox only by its record, or by the end of
// its turn.
// Calls, decisions, allowed arguments and the bytes shown have limits. An inbox
// shows the arguments of a call as a whole or not at all.

import { inputFields, questionIn } from '../../../../shared/contract/call/input-question.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message, PendingCall } from '../../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { touch } from '../../../../shared/lib/recency.ts'
import type { ConsoleState, Decision, WaitingCall } from '../page/console-state.ts'

/** Waiting calls in the console; their arguments together. `weir approvals` has no such limit. */
const consoleInboxMax = 1_000
export const consoleInboxBytesMax = 4 * 1024 * 1024
/** Tools whose last allowed arguments the console keeps, and the bytes of one. */
const consoleAllowedMax = 256
const consoleAllowedBytesMax = 64 * 1024

/** By `[conversation, turn, round, ordinal, id]` as JSON: a call may ask several questions. */
type Waiting = Omit<WaitingCall, 'allowed'>

/**
 * `bytes`: of the arguments in `waiting`. `more`: calls beyond the limit. `allowed`: arguments by
 * `[agent, tool]`, the oldest first.
 */
export type InboxFold = {
  waiting: Map<string, Waiting>
  bytes: number
  more: Map<string, Pick<Waiting, 'conversation' | 'turn'>>
  decided: Decision[]
  allowed: Map<string, string>
}

export function beginInbox(): InboxFold {
  return { waiting: new Map(), bytes: 0, more: new Map(), decided: [], allowed: new Map() }
}

/** Adds a record of the activity. `agent`: of its turn. */
export function addToInbox(
  inbox: InboxFold,
  message: Message,
  { agent, time }: { agent: string; time: Milliseconds },
): void {
  switch (message.type) {
    case 'approval-pending': {
      const { conversation, turn, round, until } = message
      for (const call of message.calls)
        addCall(inbox, JSON.stringify([conversation, turn, round, call.ordinal, call.id]), {
          conversation,
          turn,
          round,
          agent,
          since: time,
          until,
          ...shownCall(call),
        })
      return
    }
    case 'approval-decided': {
      const { conversation, turn, round, ordinal, name, id, outcome } = message
      const { by, identity, reason } = message
      const key = JSON.stringify([conversation, turn, round, ordinal, id])
      const call = inbox.waiting.get(key)
      remove(inbox, key)
      if (outcome === 'allow' && call?.question === null) keepAllowed(inbox, call)
      inbox.decided.unshift({
        id,
        conversation,
        agent: call?.agent ?? agent,
        name,
        outcome,
        by,
        identity,
        reason,
        at: time,
      })
      inbox.decided.length = Math.min(inbox.decided.length, limits.consoleDecisionsMax)
      return
    }
    case 'conversation-forgotten':
      inbox.decided = inbox.decided.filter((one) => one.conversation !== message.conversation)
      inbox.allowed.clear() // their arguments may be of that conversation
      return
    case 'turn-finished':
      for (const [key, { conversation, turn }] of [...inbox.waiting, ...inbox.more])
        if (conversation === message.conversation && turn === message.turn) remove(inbox, key)
      return
  }
}

function shownCall(call: PendingCall) {
  const { name, arguments: text, id, hash, rule, source, program } = call
  const question = call.question === null ? null : (questionIn(call.question) ?? null)
  return {
    id,
    hash,
    name,
    rawArguments: text,
    bytes: Buffer.byteLength(text),
    rule,
    isText: source === 'text',
    program,
    question: question && {
      url: question.mode === 'url' ? question.url : null,
      fields: inputFields(question),
    },
  }
}

function addCall(inbox: InboxFold, key: string, call: Waiting): void {
  const { waiting, more } = inbox
  if (waiting.has(key)) return
  if (waiting.size >= consoleInboxMax) {
    if (more.size < consoleInboxMax) more.set(key, call)
    return
  }
  const fits = inbox.bytes + call.bytes <= consoleInboxBytesMax
  if (fits) inbox.bytes += call.bytes
  waiting.set(key, fits ? call : { ...call, rawArguments: null })
}

function remove(inbox: InboxFold, key: string): void {
  const call = inbox.waiting.get(key)
  if (call !== undefined && call.rawArguments !== null) inbox.bytes -= call.bytes
  inbox.waiting.delete(key)
  inbox.more.delete(key)
}

function keepAllowed({ allowed }: InboxFold, call: Waiting): void {
  const key = JSON.stringify([call.agent, call.name])
  if (call.rawArguments !== null && call.bytes <= consoleAllowedBytesMax)
    touch(allowed, key, call.rawArguments, consoleAllowedMax)
  else allowed.delete(key)
}

/** The inbox: the next deadline first. A call past its deadline has no place in it. */
export function shownInbox(inbox: InboxFold, now: Milliseconds): ConsoleState['inbox'] {
  const open = [...inbox.waiting.values()]
    .filter(({ until }) => until > now)
    .sort((a, b) => a.until - b.until || a.since - b.since)
  let bytes = 0
  const waiting = open.map((call): WaitingCall => {
    const allowed = inbox.allowed.get(JSON.stringify([call.agent, call.name])) ?? null
    bytes += allowed?.length ?? 0
    return { ...call, allowed: bytes > consoleInboxBytesMax ? null : allowed }
  })
  return { waiting, more: inbox.more.size, decided: inbox.decided }
}
