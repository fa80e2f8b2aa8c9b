// A conversation as messages to show: the user's texts, the model's texts with cards of its calls,
// and notes. They come from the history, so a round appears when it is over.
// Here: messages for a screen. Not here: messages for a model (shared/transcript, shared/wire).

import { argumentsIn, type CallArguments } from '../../contract/call/call-arguments.ts'
import { isImage } from '../../contract/call/contents.ts'
import type { Call, CallResult, Content, HistoryEntry, Usage } from '../../contract/messages.ts'
import { redactedActivity } from '../../runtime/redaction/agent-redaction.ts'
import { reasoningText } from '../../wire/request/reasoning-text.ts'
import { type CallValue, resultOf } from './call-result.ts'

/** A call with its end, as a tool card shows it, with the whole result. */
export type CallCard = CallArguments &
  CallValue &
  Pick<Call, 'ordinal' | 'id' | 'name' | 'problem'> &
  Pick<CallResult, 'status' | 'reason' | 'durationMs'>

/** An image or a file of a user's message, without its bytes. `name`: empty for an image. */
export type ShownContent = {
  type: 'image' | 'file'
  name: string
  mediaType: string
  bytes: number
  /** In hex. */
  sha256: string
}

/**
 * `note`: a text of Weir. `kind` nudge: for the model, in front of the response of its round. `kind`
 * failure: the reason why the round has no response, or that calls may have run. The fallback of such
 * a turn is no message: `turns()` has it as `end.reply`.
 */
export type ConversationMessage =
  | { role: 'user'; turn: number; text: string; contents: ShownContent[] }
  | {
      role: 'assistant'
      turn: number
      round: number
      text: string
      /** The model's reasoning, as far as its provider shows it. Empty: none. */
      reasoning: string
      calls: CallCard[]
      usage: Usage
    }
  | { role: 'note'; turn: number; round: number; kind: 'nudge' | 'failure'; text: string }

/** In order. `entries`: of the history, in any order. */
export function messagesIn(entries: readonly HistoryEntry[]): ConversationMessage[] {
  return entries.toSorted((a, b) => a.turn - b.turn || a.round - b.round).flatMap(messagesOfRound)
}

/** The whole texts of a call. `result` null: it has none. Undefined: the round has no such call. */
export function wholeCallIn(
  entry: HistoryEntry,
  ordinal: number,
):
  | ({ id: string; name: string } & CallArguments & (CallValue | { result: null; rawResult: null }))
  | undefined {
  const isOfCall = (one: { ordinal: number }) => one.ordinal === ordinal
  const call = entry.response?.calls.find(isOfCall)
  if (call === undefined) return undefined
  const result = redactedActivity(entry, entry.redact).results.find(isOfCall)
  const shown = { id: call.id, name: call.name, ...argumentsIn(call) }
  return result === undefined
    ? { ...shown, result: null, rawResult: null }
    : { ...shown, ...resultOf(result.status, result.text) }
}

function messagesOfRound(entry: HistoryEntry): ConversationMessage[] {
  const { turn, round, user, nudge, response } = entry
  const { results, note } = redactedActivity(entry, entry.redact)
  const messages: ConversationMessage[] = []
  if (user !== null) {
    const contents = entry.contents.map(shownContent)
    messages.push({ role: 'user', turn, text: user, contents })
  }
  if (nudge !== null) messages.push({ role: 'note', turn, round, kind: 'nudge', text: nudge })
  if (response !== null) {
    const { text, usage } = response
    const calls = response.calls.flatMap((call) => cardOf(call, results))
    const reasoning = reasoningText(response.reasoning)
    messages.push({ role: 'assistant', turn, round, text, reasoning, calls, usage })
  }
  if (note !== null) messages.push({ role: 'note', turn, round, kind: 'failure', text: note })
  return messages
}

function shownContent({ hash, mediaType, bytes, name }: Content): ShownContent {
  return { type: isImage({ mediaType }) ? 'image' : 'file', name, mediaType, bytes, sha256: hash }
}

function cardOf(call: Call, results: CallResult[]): CallCard[] {
  const { ordinal, id, name, problem } = call
  const result = results.find((one) => one.ordinal === ordinal)
  if (result === undefined) return []
  const { status, reason, durationMs, text } = result
  return [
    {
      ordinal,
      id,
      name,
      ...argumentsIn(call),
      problem,
      status,
      reason,
      durationMs,
      ...resultOf(status, text),
    },
  ]
}
