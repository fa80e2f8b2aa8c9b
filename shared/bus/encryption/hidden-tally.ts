// Counts the records that a reader got encrypted, by tenant, key and reason. A record counts once,
// although a command may read it several times.

import type { HiddenRecords, StoredRecord } from '../../contract/bus.ts'

/** Of the places that are kept. Beyond it a record that is read twice counts twice. */
const placesMax = 100_000
/** A writer can make any number of names of keys. Records of further ones are not counted. */
const groupsMax = 1_000

export function createHiddenTally() {
  const groups = new Map<string, HiddenRecords>()
  const places = new Set<string>()

  return {
    see({ topic, partition, offset }: StoredRecord, found: Omit<HiddenRecords, 'count'>): void {
      const place = `${topic}/${partition}/${offset}`
      if (places.has(place)) return
      if (places.size < placesMax) places.add(place)
      const key = found.reason === 'deleted' ? '' : found.name // deleted keys have one remedy
      const group = JSON.stringify([found.tenant, key, found.reason])
      const count = (groups.get(group)?.count ?? 0) + 1
      if (count > 1 || groups.size < groupsMax) groups.set(group, { ...found, count })
    },
    all: (): HiddenRecords[] => [...groups.values()],
  }
}
