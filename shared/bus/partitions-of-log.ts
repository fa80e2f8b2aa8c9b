// The number of partitions where nobody sets one: that of the log, if its file exists already.

import { type SettingKey, type SettingValue, valuesOf } from '../settings/settings.ts'
import { busKindOf } from './kinds.ts'

/** The settings with the partitions of an existing file, unless a person has set a number. */
export function withPartitionsOfLog(
  values: Record<SettingKey, SettingValue>,
): Record<SettingKey, SettingValue> {
  const { origin } = values.partitions
  const settings = valuesOf(values)
  const kind = busKindOf(settings)
  if (origin.kind !== 'default' || !kind.isLocal) return values
  const value = kind.partitionsIn(settings, `${settings.topicPrefix}conversation-events`)
  return value === undefined ? values : { ...values, partitions: { value, origin } }
}
