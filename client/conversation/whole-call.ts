// The whole arguments and the whole result of a call. Events carry the beginnings of long ones; the
// history has them whole once the round is over.

import { decode } from '../../shared/codec/codec.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { historyKey } from '../../shared/contract/topology.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'
import type { Place } from '../turn/opening.ts'
import type { CallPlace, WholeCall } from '../turn/turn-event.ts'

/** Waits a moment for the round: its entry follows the result of its last call. */
export async function wholeCall(
  { bus, topicPrefix, partition }: Place,
  conversation: ConversationId,
  { turn, round, ordinal }: CallPlace,
): Promise<WholeCall | undefined> {
  const record = await bus.get({
    topic: `${topicPrefix}history`,
    partition,
    key: historyKey({ conversation, turn, round }),
    waitMs: limits.wholeCallWaitMs,
  })
  const entry = record?.value ? decode(record.value) : undefined
  if (entry?.type !== 'history-entry') return undefined
  const call = entry.response?.calls.find((one) => one.ordinal === ordinal)
  if (call === undefined) return undefined
  const { results } = redactedActivity(entry, entry.redact)
  const result = results.find((one) => one.ordinal === ordinal)
  return {
    turn,
    round,
    ordinal,
    id: call.id,
    name: call.name,
    arguments: call.raw,
    result: result?.text ?? null,
  }
}
