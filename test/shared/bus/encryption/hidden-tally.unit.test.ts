import { describe, expect, it } from '@jest/globals'
import { createHiddenTally } from '../../../../shared/bus/encryption/hidden-tally.ts'
import { encryptedByte } from '../../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../../shared/contract/bus.ts'

const missing = (name: string) =>
  ({ tenant: 'acme', name, reason: 'missing', hasOthers: false }) as const

function record(offset: number): StoredRecord {
  const place = { topic: 'activity', partition: 0, offset }
  return { ...place, key: `acme:${offset}`, value: Uint8Array.of(encryptedByte), time: 0 }
}

describe('the tally of records that stay encrypted', () => {
  it('counts a record that is read twice once', () => {
    const tally = createHiddenTally()
    for (const offset of [1, 2, 2, 1]) tally.see(record(offset), missing('k'))
    expect(tally.all()).toMatchObject([{ tenant: 'acme', name: 'k', count: 2 }])
  })

  it('is bounded, however many keys the records name', () => {
    const tally = createHiddenTally()
    for (let offset = 0; offset < 3_000; offset += 1)
      tally.see(record(offset), missing(`k${offset}`))
    expect(tally.all()).toHaveLength(1_000)
  })
})
