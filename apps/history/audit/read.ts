// Reads the evidence in `audit` for the command, the API and the console (shared/view/audit/entries.ts).
// Values that the rules of an agent hide are hidden, by the rules in the evidence or in the
// log. Without the rules of its turn, an entry has no content.

import { endsOf } from '../../../client/history/readable-log.ts'
import { scanAll } from '../../../client/history/scan.ts'
import { leadersApartMs } from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import { isEvidence } from '../../../shared/contract/audit/link.ts'
import type { AuditDecided, RedactRule } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { inboxOf } from '../../../shared/contract/topology.ts'
import { redactedActivity, rulesIn } from '../../../shared/runtime/redaction/agent-redaction.ts'
import {
  type AuditEntry,
  type AuditedCall,
  type AuditFold,
  type AuditNames,
  type AuditWhere,
  auditFold,
  withheldCall,
} from '../../../shared/view/audit/entries.ts'
import type { OpenLog } from '../open-log.ts'

/** `left`: older entries that match and are not listed. `hidden`: records that cannot be read. */
export type AuditList = {
  entries: AuditEntry[]
  left: number
  hidden: number
  names: AuditNames
}

/** In the order of their times: of more than `max`, the newest. */
export async function readAudit(log: OpenLog, where: AuditWhere, max: number): Promise<AuditList> {
  const fold = auditFold(where, max)
  const since = Math.max(0, (where.since ?? 0) - leadersApartMs)
  const places = (await endsOf(log, 'audit')).map(({ partition }) => ({
    topic: 'audit' as const,
    partition,
    since,
  }))
  let hidden = 0
  for await (const { batches } of scanAll(log, places))
    for await (const records of batches)
      for (const record of records) {
        const message = messageOf(record.value)
        if (isEvidence(message)) fold.apply(record, message)
        else hidden += 1
      }
  const entries: AuditEntry[] = []
  for (const entry of fold.entries()) entries.push(await shown(entry, log, fold))
  return { entries, left: fold.left, hidden, names: fold.names }
}

async function shown(entry: AuditEntry, log: OpenLog, fold: AuditFold): Promise<AuditEntry> {
  if (!('name' in entry) || log.unredacted === true || entry.withheld) return entry
  const rules = fold.rulesOf(entry) ?? (await rulesInLog(entry, log))
  if (rules === undefined) return withheldCall(entry)
  return rules.length === 0 ? entry : redacted(entry, rules)
}

/** Undefined: the log no longer has the record that opened the turn. */
async function rulesInLog(
  { conversation, turn }: AuditedCall,
  { bus, topicPrefix, partitions }: OpenLog,
): Promise<readonly RedactRule[] | undefined> {
  const [record] = await bus.read({
    topic: topicPrefix + inboxOf(conversation),
    partition: partitionOf(conversation, partitions),
    from: turn,
    limit: 1,
    bytesMax: 1,
  })
  const opened = record?.offset === turn ? messageOf(record.value) : undefined
  return opened === undefined ? undefined : rulesIn(opened)
}

/** Its texts as those of the records in `activity` (agent-redaction.ts). */
function redacted(entry: AuditedCall, rules: readonly RedactRule[]): AuditedCall {
  const { name, ordinal, conversation, turn, round } = entry
  const call = { ordinal, name, raw: entry.rawArguments ?? '' }
  const texts = {
    type: 'audit-decided',
    conversation,
    turn,
    round,
    ordinal,
    name,
    arguments: entry.rawArguments,
    rule: entry.rule,
    question: entry.question,
    values: entry.values,
    reason: entry.reason,
  } as AuditDecided
  const {
    arguments: rawArguments,
    rule,
    question,
    values,
    reason,
  } = redactedActivity(texts, rules, [call])
  return { ...entry, rawArguments, rule, question, values, reason }
}
