// The kind of one value in a file of several: a transcript with its beginning, one message of a
// transcript, or neither. Some session logs put an envelope around each message, and other lines
// between them.

import type { Milliseconds } from '../../shared/lib/clock.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import type { Json } from '../../shared/transcript/json-fields.ts'
import { timeOf } from '../../shared/transcript/recorded-messages.ts'
import type { Piece } from '../../shared/transcript/transcript.ts'
import type { SessionAgent, SessionFormat } from '../../shared/wire/format.ts'
import { conversationIdIn, type IdField } from './conversation-id.ts'
import { envelopedIn, hasRequest, isSaid } from './exchange.ts'

/**
 * `of`: the common id of a transcript's messages; '': unknown. `what`: a few words for people.
 */
export type LineKind =
  | { kind: 'transcript' }
  | { kind: 'message'; message: unknown; of: string }
  /** About the messages of a transcript. */
  | { kind: 'facts'; of: string }
  | { kind: 'other'; what: string }

/** Remembers the messages of sub-agents. */
export type LineKinds = { kindOf(value: unknown): LineKind }

export function createLineKinds(idField: IdField, sessions: readonly SessionFormat[]): LineKinds {
  const conversations = sessions.flatMap(({ conversations: create }) => create?.() ?? [])

  return {
    kindOf(value) {
      if (!isObject(value)) return { kind: 'transcript' }
      const { session, agent }: SessionAgent = Object.assign(
        {},
        ...conversations.map((conversationOf) => conversationOf(value)),
      )
      const id = conversationIdIn(value, [value], { idField, isAnswered: true })?.id
      const name = id ?? (idField === undefined ? session : undefined) ?? ''
      const of = agent === undefined ? name : `${name}/${agent}`
      const message = messageIn(value, sessions)
      if (message !== undefined) {
        const what = sessions
          .map(({ leftOut }) => leftOut?.(value))
          .find((one) => one !== undefined)
        return what === undefined ? { kind: 'message', message, of } : { kind: 'other', what }
      }
      if (factsIn(value, sessions).length > 0) return { kind: 'facts', of }
      const what = otherIn(value)
      return what === undefined ? { kind: 'transcript' } : { kind: 'other', what }
    },
  }
}

/** The message in a line of a session log; undefined: none. */
export function messageIn(value: unknown, sessions: readonly SessionFormat[]): unknown {
  return isSaid(value) ? value : envelopedIn(value, sessions)
}

/** The pieces of a line without a message. */
export function factsIn(value: unknown, sessions: readonly SessionFormat[]): Piece[] {
  return isObject(value) ? sessions.flatMap(({ facts }) => facts?.(value) ?? []) : []
}

/** When a line of a session was written. Undefined: no session knows. */
export function writtenAt(
  value: unknown,
  sessions: readonly SessionFormat[],
): Milliseconds | undefined {
  if (!isObject(value)) return undefined
  const times = sessions.flatMap(({ time }) =>
    time === undefined ? [] : (timeOf(value[time]).at ?? []),
  )
  return times[0]
}

/** Names steps of a run that are no model requests, and other lines of session logs. */
function otherIn(value: Json): string | undefined {
  const { object, span_data: span, run_type: run, type, traceId } = value
  if (isObject(span))
    return span.type === 'generation' ? undefined : `a span of type ${String(span.type)}`
  if (object === 'trace') return 'the head of a trace'
  if (typeof run === 'string') return run === 'llm' ? undefined : `a run of type ${run}`
  if (typeof type !== 'string') return undefined
  if (typeof traceId === 'string')
    return type === 'GENERATION' ? undefined : `an observation of type ${type}`
  return hasRequest(value) ? undefined : `a line of type ${type}`
}
