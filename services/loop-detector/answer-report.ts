// The records by which clients learn of a response and of its denied calls.
// Owns: the bounds of their texts. The history keeps the whole texts.

import { limits } from '../../shared/contract/limits.ts'
import type {
  AnsweredCall,
  Call,
  CallResult,
  RoundChecked,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { cutToBytes, shortened } from '../../shared/lib/text-cut.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'

export function modelAnswered({ conversation, turn, round, response }: RoundChecked): Output {
  const { attempt, text, calls, stop, usage } = response
  return {
    to: 'activity',
    message: {
      type: 'model-answered',
      conversation,
      turn,
      round,
      attempt,
      text: cutToBytes(text, limits.activityTextBytesMax),
      textBytes: Buffer.byteLength(text),
      calls: calls.map(answeredCall),
      stop,
      usage,
    },
  }
}

function answeredCall({ ordinal, id, name, raw, problem }: Call): AnsweredCall {
  return {
    ordinal,
    id,
    name,
    arguments: cutToBytes(raw, limits.activityArgumentBytesMax),
    argumentsBytes: Buffer.byteLength(raw),
    problem,
  }
}

export function callDenied(
  { conversation, turn, round, response, policy }: RoundChecked,
  { ordinal, reason, text }: CallResult,
): Output {
  const name = response.calls.find((call) => call.ordinal === ordinal)?.name ?? ''
  const message = redactedActivity(
    { type: 'call-denied', conversation, turn, round, ordinal, name, reason, text } as const,
    policy.redact,
    response.calls,
  )
  return {
    to: 'activity',
    message: { ...message, text: shortened(message.text, limits.activityResultBytesMax) },
  }
}
