// The progress knows the number of records in all partitions before the first one. So its remaining
// time covers all of them.

import { expect, it } from '@jest/globals'
import { withBundle } from '../../../apps/history/open-log.ts'
import { scanAll } from '../../../client/history/scan.ts'
import { bundleFile } from '../../apps/replay/bundled-log.ts'

it('a scan of several partitions expects all records before the first one', async () => {
  await withBundle(bundleFile('i3-no-termination'), async (log) => {
    const told: string[] = []
    const progress = {
      expect: (records: number) => void told.push(`expect ${records > 0}`),
      read: (records: number) => void told.push(`read ${records > 0}`),
      end() {},
    }
    const places = (['conversation-events', 'rounds-checked', 'activity'] as const).flatMap(
      (topic) => Array.from({ length: log.partitions }, (_, partition) => ({ topic, partition })),
    )
    const read: string[] = []
    for await (const { scanned, batches } of scanAll({ ...log, progress }, places))
      for await (const records of batches) read.push(`${scanned.topic} ${records.length > 0}`)
    expect(told).toEqual(['expect true', 'read true', 'read true', 'read true'])
    expect(read).toEqual(['conversation-events true', 'rounds-checked true', 'activity true'])
  })
})
