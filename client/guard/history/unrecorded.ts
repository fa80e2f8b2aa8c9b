// The stand-ins of texts that the log of a guest does not get (`record: 'calls'`). Tools, arguments
// and the ends of calls stay.
//
// Two results of a conversation have one stand-in if they are equal but for their
// clocks and random ids. So most repeats are found as with their texts.
// A failure keeps its kind, and an answer the progress of a thing and that a search had no
// hits: failures that may clear, waits and batches have other limits.
// Stand-ins differ wherever their texts could differ for a rule. So a loop may be missed,
// and no honest agent is disturbed.

import { hash } from 'node:crypto'
import { errorOf } from '../../../services/loop-detector/evidence/error-text.ts'
import type { FailureKind } from '../../../services/loop-detector/evidence/failure-kind.ts'
import { masked } from '../../../services/loop-detector/evidence/mask.ts'
import { isEmptyHanded } from '../../../services/loop-detector/meaning/empty-handed.ts'
import { progressOf } from '../../../services/loop-detector/waiting/waiting-answer.ts'
import { errorLine } from '../../../shared/contract/call/error-line.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { GuestResult, GuestResults, GuestRound } from '../../../shared/contract/messages.ts'
import { unreachable } from '../../../shared/contract/stage.ts'

/** The record with its calls and without its texts. */
export function recordOfCalls(record: GuestRound | GuestResults): GuestRound | GuestResults {
  const { conversation } = record
  const user = record.user === null ? null : textStandIn(conversation, record.user)
  if (record.type === 'guest-round') {
    const text = textStandIn(conversation, record.response.text)
    return { ...record, user, response: { ...record.response, text, reasoning: '' } }
  }
  const { results, former } = record
  const ofCalls = (all: readonly GuestResult[]) =>
    all.map((result) => resultOfCalls(conversation, result))
  return {
    ...record,
    user,
    results: ofCalls(results),
    former: former && { ...former, results: ofCalls(former.results) },
  }
}

/** The result without its text. */
export function resultOfCalls(conversation: ConversationId, result: GuestResult): GuestResult {
  const { status, text } = result
  if (status === 'ok') return { ...result, text: answerStandIn(conversation, text) }
  if (status !== 'error') return { ...result, text: textStandIn(conversation, text) }
  const { error, kind } = errorOf({ status, reason: errorLine(text) ?? '', text })
  const standIn =
    kind === 'bare'
      ? text && `${phrases.bare}: ${numbersOf(conversation, masked(text))}`
      : `${phrases[kind]} ${bracketed(conversation, error)}\n${textStandIn(conversation, text)}`
  return { ...result, text: standIn }
}

/** Nothing in place of a blank text, because the model or the tool had none. */
export function textStandIn(conversation: ConversationId, text: string): string {
  return text.trim() === '' ? '' : bracketed(conversation, masked(text))
}

const noOutput = '(no output)'

/** The stand-in of a success. A progress counts if it is the same for a command and for a look. */
function answerStandIn(conversation: ConversationId, text: string): string {
  const progress = progressOf(text, true)
  const standIn = textStandIn(conversation, text)
  if (standIn === '' || progress !== progressOf(text, false)) return standIn
  switch (progress) {
    case 'running':
    case 'over':
      return `status: ${progress === 'over' ? 'finished' : progress}\n${standIn}`
    case 'empty':
      return text.length <= noOutput.length ? text : noOutput // `{}` is not `null`
    case 'other':
      return isEmptyHanded(masked(text)) ? `no results ${standIn}` : standIn
    default:
      return unreachable(progress)
  }
}

/** Each phrase is of its kind. */
const phrases: Record<FailureKind, string> = {
  shape: 'invalid arguments',
  unknown_tool: 'unknown tool',
  denied: 'access denied',
  miss: 'not found',
  transient: 'temporarily unavailable',
  other: 'failed',
  bare: 'exited with a failure',
}

/** 64 bits. Letters, because a word with digits may count as a random id. */
function bracketed(conversation: ConversationId, text: string): string {
  const digits = digestOf(conversation, text).slice(0, 16)
  const letters = digits.replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '')
  return `[not recorded: ${letters}]`
}

/** About 30 bits. Numbers of at most three digits, because any other word would be a reason. */
function numbersOf(conversation: ConversationId, text: string): string {
  const digest = digestOf(conversation, text)
  return [0, 3, 6].map((at) => Number.parseInt(digest.slice(at, at + 3), 16) % 1_000).join(' ')
}

/** Equal texts of two conversations have different digests. */
function digestOf(conversation: ConversationId, text: string): string {
  return hash('sha256', JSON.stringify(['weir/unrecorded/1', conversation, text]))
}
