// An operator's change with its evidence: the records of `policies`, and one of `audit` with the
// author, the setting before and the setting after.
// A change needs no evidence: a stop must work also while nobody can write to `audit`.
// The evidence is in the same append as the change if the bus writes an append
// completely or not at all. On another bus it comes afterwards.

import { hash } from 'node:crypto'
import { messageOf } from '../../codec/message-of.ts'
import type { Appended, Bus, RecordToAppend, StoredRecord } from '../../contract/bus.ts'
import type { AuditChanged, Message, PersonIdentity } from '../../contract/messages.ts'
import { WeirError } from '../../lib/errors.ts'
import { toRecord } from '../record.ts'

/** A setting in the evidence of its change. Of a larger one it has the size and the hash. */
export const auditSettingBytesMax = 256 * 1024

/** `identity`: the proof of the author. Default: `claimed`. */
export type AuditedTable = {
  bus: Pick<Bus, 'append' | 'list' | 'clock' | 'appendsWhole'>
  topicPrefix: string
  identity?: PersonIdentity | undefined
}

/** `setting`: the key of its record. `after`: undefined: it is removed. */
export type Change = { setting: string; by: string; after: Message | undefined }

/** As JSON, without secrets. Empty: there was none, or there is none. */
type ChangeTexts = { setting: string; by: string; before: string; after: string }

/**
 * Appends the records of the change, and its evidence. Returns
 * the places of the records.
 */
export async function appendChange(
  table: AuditedTable,
  { setting, by, after }: Change,
  records: RecordToAppend[],
): Promise<Appended[]> {
  const place = { topic: `${table.topicPrefix}policies`, partition: 0 }
  const known = await table.bus.list({ ...place, prefix: setting, upToNow: true })
  const before = textOf(messageIn(known.find(({ key }) => key === setting)))
  return appendTexts(table, { setting, by, before, after: textOf(after) }, records)
}

/** As appendChange, for a setting that is no record of `policies`. */
export async function appendTexts(
  {
    bus,
    topicPrefix,
    identity = 'claimed',
  }: Omit<AuditedTable, 'bus'> & {
    bus: Pick<Bus, 'append' | 'clock' | 'appendsWhole'>
  },
  { setting, by, before, after }: ChangeTexts,
  records: RecordToAppend[],
): Promise<Appended[]> {
  const message: AuditChanged = {
    type: 'audit-changed',
    setting,
    isRemoved: after === '',
    at: bus.clock.now(),
    by,
    identity,
    before,
    after,
    link: null,
  }
  const evidence = toRecord({ topic: `${topicPrefix}audit`, partition: 0, message })
  if (bus.appendsWhole === true) {
    try {
      return (await bus.append([evidence, ...records])).slice(1)
    } catch (error) {
      if (!(error instanceof WeirError) || error.code !== 'bus.topic-missing') throw error
      return bus.append(records)
    }
  }
  const appended = await bus.append(records)
  try {
    await bus.append([evidence])
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    process.emitWarning(withoutEvidence(setting, why))
  }
  return appended
}

/** The warning about a change whose evidence could not be written. */
export function withoutEvidence(setting: string, why: string): string {
  return `the change of ${setting} is in force, but has no evidence in audit: ${why}`
}

function messageIn(record: StoredRecord | undefined): Message | undefined {
  return record === undefined ? undefined : messageOf(record.value)
}

/** As JSON, without the author and the time, which the evidence has. Empty: there is none. */
function textOf(message: Message | undefined): string {
  if (message === undefined) return ''
  const { type: _, ...fields } = message
  const text = JSON.stringify(fields, (name, value) => (hidden.has(name) ? undefined : value))
  const bytes = Buffer.byteLength(text)
  return bytes <= auditSettingBytesMax
    ? text
    : JSON.stringify({ bytes, sha256: hash('sha256', text) })
}

const hidden = new Set(['setBy', 'setAt', 'registeredAt', 'firstAt', 'replaced'])
