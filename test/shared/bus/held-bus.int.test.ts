// A bus that follows the format in force.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { heldBus } from '../../../shared/bus/fleet/held-bus.ts'
import { hold, ownFormat } from '../../../shared/codec/codec.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import {
  formatInForce,
  storedFormats,
  storeFleetFormat,
} from '../../../shared/runtime/fleet/stored-formats.ts'
import { until } from '../../support/inbox.ts'

let bus: Bus
const log = pino({ level: 'silent' })

beforeEach(async () => {
  bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
  await bus.ensureTopics([{ name: 'w.policies', kind: 'table', partitions: 1 }])
})
afterEach(() => bus.close())

const fleet = () => ({ bus, topicPrefix: 'w.' })
const setFormat = (format: number, isPinned = false) =>
  storeFleetFormat(fleet(), { format, isPinned, setBy: 'anna' })

describe('the format in force', () => {
  it('is 1 for a log that names none', async () => {
    expect(await formatInForce(fleet())).toMatchObject({ format: 1, isPinned: false })
  })

  it('is set after the schemas of the formats are stored, which are stored once', async () => {
    await setFormat(1, true)
    expect(await formatInForce(fleet())).toMatchObject({ format: 1, isPinned: true, setBy: 'anna' })
    const stored = await storedFormats(fleet())
    expect(stored.map(({ format }) => format)).toEqual(
      Array.from({ length: ownFormat - 1 }, (_, at) => at + 2),
    )
    const [{ end } = { end: 0 }] = await bus.ends('w.policies')
    await setFormat(1, true)
    expect((await bus.ends('w.policies'))[0]?.end).toBe(end + 1)
  })

  it('limits the process while its bus is open, and the process follows each change', async () => {
    const held = await heldBus({ ...bus, close: async () => {} }, 'w.', log)
    const limit = () => hold({}, undefined)
    expect(limit()).toBe(1)
    await setFormat(ownFormat)
    await until(async () => limit() === ownFormat)
    await setFormat(1)
    await until(async () => limit() === 1)
    await held.close()
    expect(limit()).toBe(Number.POSITIVE_INFINITY)
  })
})
