// The rules of agents for the conversations of an export, read from the log before it is copied. A
// bundle has the rules of all its agents, because a value of one conversation can be in another.

import { typeIn } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { RedactRule } from '../../shared/contract/messages.ts'
import { historyConversation } from '../../shared/contract/topology.ts'
import {
  distinctRules,
  redactionRules,
  rulesIn,
} from '../../shared/runtime/redaction/agent-redaction.ts'
import type { RedactionRule } from '../../shared/runtime/redaction/redaction-rule.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import { scan } from '../history/scan.ts'
import type { Selection } from './selection.ts'

/** Equal values get equal replacements, so loops stay loops in a replay. */
export async function rulesInLog(
  log: ReadableLog,
  { partitions, stretchOf }: Selection,
  signal: AbortSignal,
): Promise<RedactionRule[]> {
  const found: RedactRule[] = []
  for (const partition of partitions)
    for (const topic of ['history', 'conversation-events', 'guest-events'] as const)
      for await (const records of scan(log, { topic, partition })) {
        if (signal.aborted) return []
        for (const record of records)
          if (stretchOf(conversationOf(topic, record)) !== undefined) found.push(...rulesOf(record))
        found.splice(0, found.length, ...distinctRules(found))
      }
  return redactionRules(found, 'pseudonym')
}

function conversationOf(topic: string, { key }: StoredRecord): string {
  return topic === 'history' ? (historyConversation(key) ?? '') : key
}

/** Every round has its history, and messages that wait for their turn have their own rules. */
const carriers = new Set(['history-entry', 'user-message', 'guest-round'])

function rulesOf({ value }: StoredRecord): readonly RedactRule[] {
  if (value === null || !carriers.has(typeIn(value) ?? '')) return []
  const message = messageOf(value)
  return message === undefined ? [] : rulesIn(message)
}
