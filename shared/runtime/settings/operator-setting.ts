// One kind of an operator's settings, such as stops: records of one type in the table `policies`, one
// for each scope. Every kind is listed, written and removed here, and apps/service has their list.
// OPERATOR-SETTING-1. A record that cannot be read stays in the list, and can be removed.

import { decode } from '../../codec/codec.ts'
import { visible } from '../../contract/arguments/name-text.ts'
import type { Bus, StoredRecord } from '../../contract/bus.ts'
import type { Message, MessageOf, MessageType } from '../../contract/messages.ts'
import { WeirError } from '../../lib/errors.ts'
import { removalCommand, type SettingKind } from '../../settings/setting-words.ts'
import { toRecord } from '../record.ts'
import { type AuditedTable, appendChange } from './audited-change.ts'
import { removeSetting } from './removed-settings.ts'

export type OperatorSetting<Type extends MessageType = MessageType> = {
  /** Its words are in setting-words.ts. */
  kind: SettingKind
  /** The prefix of the keys. The id follows it: the scope of one setting, as text. */
  scope: string
  /** The type of the records. */
  schema: Type
  /** The error for an id without a setting. `ids`: those with one. */
  unknown: (id: string, ids: string[]) => WeirError
  /** The number of settings in force, and the error above it. */
  limit?: { max: number; error: (count: number) => WeirError }
}

type Table = { bus: Pick<Bus, 'list'>; topicPrefix: string }

/** `value` undefined: the record cannot be read (keeps OPERATOR-SETTING-1). */
export type StoredSetting<Type extends MessageType> = {
  id: string
  value: MessageOf<Type> | undefined
}

/** The fields of its record, for JSON. All are null if the record cannot be read. */
export type Shown<Type extends MessageType, Field extends keyof MessageOf<Type>> = {
  id: string
} & { [Key in Field]: MessageOf<Type>[Key] | null }

export function shownSetting<Type extends MessageType, Field extends keyof MessageOf<Type>>(
  { id, value }: StoredSetting<Type>,
  fields: readonly Field[],
): Shown<Type, Field> {
  const shown = fields.map((field) => [field, value?.[field] ?? null])
  return { id, ...Object.fromEntries(shown) }
}

/** In the order of their ids, as the table is at the call. */
export async function storedSettings<Type extends MessageType>(
  setting: OperatorSetting<Type>,
  table: Table,
): Promise<StoredSetting<Type>[]> {
  return (await recordsOf(setting, table)).map(({ id, record }) => {
    try {
      const message = decode(record)
      return { id, value: isOf(message, setting.schema) ? message : undefined }
    } catch {
      return { id, value: undefined }
    }
  })
}

/** As storedSettings. Throws `policies.unreadable` with the remedy for a record of another kind, or garbage. */
export async function readableSettings<Type extends MessageType>(
  { kind, schema, scope }: OperatorSetting<Type>,
  table: Table,
): Promise<MessageOf<Type>[]> {
  const records = await recordsOf({ scope }, table)
  return records.map(({ id, record }) =>
    readableSetting(record, schema, scope + id, `remove it with ${removalCommand(kind, id)}`),
  )
}

/** The record under a key of `policies`. Throws `policies.unreadable` with the key, the fault and the remedy. */
export function readableSetting<Type extends MessageType>(
  record: Uint8Array,
  type: Type,
  key: string,
  remedy: string,
): MessageOf<Type> {
  const unreadable = (fault: string, cause?: unknown) =>
    new WeirError(
      'policies.unreadable',
      `the record ${visible(key)} in policies ${fault}; ${remedy}`,
      { cause },
    )
  let message: Message
  try {
    message = decode(record)
  } catch (error) {
    throw unreadable(`cannot be read: ${String(error)}`, error)
  }
  if (!isOf(message, type)) throw unreadable(`is a ${message.type}`)
  return message
}

/**
 * Writes the setting and the evidence of its change. One of the same scope is replaced. Throws the
 * error of the limit.
 */
export async function placeSetting<Type extends MessageType>(
  setting: OperatorSetting<Type>,
  table: AuditedTable,
  message: MessageOf<Type> & { setBy: string },
): Promise<void> {
  const record = toRecord({ topic: `${table.topicPrefix}policies`, partition: 0, message })
  const { limit, scope } = setting
  if (limit !== undefined) {
    const there = await recordsOf(setting, table)
    const isNew = there.every(({ id }) => scope + id !== record.key)
    if (isNew && there.length >= limit.max) throw limit.error(there.length)
  }
  await appendChange(table, { setting: record.key, by: message.setBy, after: message }, [record])
}

/** Removes the setting by its key. Throws the error for an unknown id. */
export async function removeStored(
  setting: OperatorSetting,
  table: AuditedTable,
  { id, by }: { id: string; by: string },
): Promise<void> {
  const ids = (await recordsOf(setting, table)).map((one) => one.id)
  if (!ids.includes(id)) throw setting.unknown(id, ids)
  await removeSetting(table, setting.scope + id, by)
}

async function recordsOf(
  { scope }: Pick<OperatorSetting, 'scope'>,
  { bus, topicPrefix }: Table,
): Promise<{ id: string; record: NonNullable<StoredRecord['value']> }[]> {
  const topic = `${topicPrefix}policies`
  const records = await bus.list({ topic, partition: 0, prefix: scope, upToNow: true })
  return records
    .flatMap(({ key, value }) =>
      value === null ? [] : [{ id: key.slice(scope.length), record: value }],
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

function isOf<Type extends MessageType>(message: Message, type: Type): message is MessageOf<Type> {
  return message.type === type
}
