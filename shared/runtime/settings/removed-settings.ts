// The removal of a setting from `policies`, with its author. Every command and page that removes one
// uses this file.
// The tombstone comes before the author: a removal counts even if that is lost.
// The table keeps the newest `limits.settingsRemovedKept` removals.

import { messageOf } from '../../codec/message-of.ts'
import type { Bus } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { SettingRemoved } from '../../contract/messages.ts'
import { removedKeyPrefix } from '../../contract/topology.ts'
import { toRecord } from '../record.ts'
import { type AuditedTable, appendChange } from './audited-change.ts'

/** `setting`: the key of its record. The caller has found it. */
export async function removeSetting(
  table: AuditedTable,
  setting: string,
  by: string,
): Promise<void> {
  const { bus, topicPrefix } = table
  const place = { topic: `${topicPrefix}policies`, partition: 0 }
  const others = (await removedSettings({ bus, topicPrefix })).filter(
    (one) => one.setting !== setting,
  )
  const message = { type: 'setting-removed', setting, setBy: by, setAt: bus.clock.now() } as const
  const forgotten = others.slice(limits.settingsRemovedKept - 1)
  await appendChange(table, { setting, by, after: undefined }, [
    { ...place, key: setting, value: null },
    toRecord({ ...place, message }),
    ...forgotten.map((one) => ({ ...place, key: removedKeyPrefix + one.setting, value: null })),
  ])
}

/** The newest first. Leaves out records that cannot be read. */
export async function removedSettings({
  bus,
  topicPrefix,
}: {
  bus: Pick<Bus, 'list'>
  topicPrefix: string
}): Promise<SettingRemoved[]> {
  const records = await bus.list({
    topic: `${topicPrefix}policies`,
    partition: 0,
    prefix: removedKeyPrefix,
    upToNow: true,
  })
  return records.flatMap(({ value }) => removalIn(value)).sort((a, b) => b.setAt - a.setAt)
}

function removalIn(value: Uint8Array | null): SettingRemoved[] {
  const message = messageOf(value)
  return message?.type === 'setting-removed' ? [message] : []
}
