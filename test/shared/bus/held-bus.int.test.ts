// A bus that follows the format in force.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { heldBus } from '../../../shared/bus/fleet/held-bus.ts'
import { hold, ownFormat } from '../../../shared/codec/codec.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import {
  changeFleetFormat,
  formatInForce,
  storedFleet,
  storeFleetFormat,
  storeFormats,
} from '../../../shared/runtime/fleet/stored-formats.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { until } from '../../support/inbox.ts'

let bus: Bus
const log = pino({ level: 'silent' })

beforeEach(async () => {
  bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
  await bus.ensureTopics([
    { name: 'w.policies', kind: 'table', partitions: 1 },
    { name: 'w.audit', kind: 'log', partitions: 1 },
  ])
})
afterEach(() => bus.close())

const fleet = () => ({ bus, topicPrefix: 'w.' })
const setFormat = (format: number, isPinned = false) =>
  storeFleetFormat(fleet(), { format, isPinned, setBy: 'anna' })

describe('the format in force', () => {
  it('is read again when a bus opens at a broker that leads no partition yet', async () => {
    await setFormat(2)
    let reads = 0
    const leaderless = new WeirError('bus.refused', 'not the leader', { retryable: true })
    const list: Bus['list'] = (query) => {
      reads += 1
      return reads === 1 ? Promise.reject(leaderless) : bus.list(query)
    }
    const held = await heldBus({ ...bus, list, close: async () => {} }, 'w.', log)
    expect(hold({}, undefined)).toBe(2)
    await held.close()
  })

  it('is 1 for a log that names none', async () => {
    expect(await formatInForce(fleet())).toMatchObject({ format: 1, isPinned: false })
  })

  it('is set after the schemas of the formats are stored, which are stored once', async () => {
    await setFormat(1, true)
    const { inForce, formats: stored } = await storedFleet(fleet())
    expect(inForce).toMatchObject({ format: 1, isPinned: true, setBy: 'anna' })
    expect(await formatInForce(fleet())).toEqual(inForce)
    expect(stored.map(({ format }) => format)).toEqual(
      Array.from({ length: ownFormat - 1 }, (_, at) => at + 2),
    )
    const [{ end } = { end: 0 }] = await bus.ends('w.policies')
    await setFormat(1, true)
    expect((await bus.ends('w.policies'))[0]?.end).toBe(end + 1)
  })

  it('keeps the schemas of a newer build, and gains those that an older build lacks', async () => {
    const stored = async () => (await storedFleet(fleet())).formats.at(-1)?.schemas ?? '[]'
    const store = async (schemas: object[]) => {
      const message = { type: 'format-schemas', format: ownFormat, weir: '', schemas: '' } as const
      const text = JSON.stringify(schemas)
      const place = { topic: 'w.policies', partition: 0 }
      await bus.append([toRecord({ ...place, message: { ...message, schemas: text } })])
      await storeFormats(fleet())
      return { text, after: await stored() }
    }
    await storeFormats(fleet())
    const own: { id: number }[] = JSON.parse(await stored())
    const [last] = own.slice(-1)
    const older = await store(own.slice(0, -1))
    expect(JSON.parse(older.after)).toEqual(own)
    const newer = await store([...own, { ...last, id: (last?.id ?? 0) + 1 }])
    expect(newer.after).toBe(newer.text)
  })

  it('is not changed by a process after an operator pinned a format or another process changed it', async () => {
    await setFormat(1, true)
    expect(await changeFleetFormat(fleet(), { from: 1, to: 2 })).toBe(false)
    expect(await formatInForce(fleet())).toMatchObject({ format: 1, isPinned: true, setBy: 'anna' })
    await setFormat(1)
    expect(await changeFleetFormat(fleet(), { from: 2, to: 1 })).toBe(false)
    expect(await changeFleetFormat(fleet(), { from: 1, to: 2 })).toBe(true)
    expect(await formatInForce(fleet())).toMatchObject({ format: 2, isPinned: false })
  })

  it('stays pinned if a process compared the members before the pin and writes its format afterwards', async () => {
    const held = await heldBus({ ...bus, close: async () => {} }, 'w.', log)
    await setFormat(1)
    const append: Bus['append'] = async (records) => {
      await setFormat(1, true)
      return bus.append(records)
    }
    expect(
      await changeFleetFormat({ bus: { ...bus, append }, topicPrefix: 'w.' }, { from: 1, to: 2 }),
    ).toBe(true)
    expect(await formatInForce(fleet())).toMatchObject({ format: 1, isPinned: true, setBy: 'anna' })
    await setFormat(ownFormat)
    await until(async () => hold({}, undefined) === ownFormat)
    expect(await formatInForce(fleet())).toMatchObject({ format: ownFormat, isPinned: false })
    await held.close()
  })

  it('has evidence in audit for each change of an operator', async () => {
    await setFormat(1, true)
    await setFormat(2)
    const records = await bus.read({ topic: 'w.audit', partition: 0, from: 0, limit: 10 })
    expect(records.map(({ value }) => messageOf(value))).toMatchObject([
      { by: 'anna', before: '', after: '{"format":1,"isPinned":true}' },
      {
        setting: 'fleet-format:pin',
        by: 'anna',
        before: '{"format":1,"isPinned":true}',
        after: '{"format":2,"isPinned":false}',
      },
    ])
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

  it('limits nothing after the first look at the table failed, and the bus is closed', async () => {
    let isClosed = false
    const broken: Bus = {
      ...bus,
      list: () => Promise.reject(new WeirError('bus.unreachable', 'no broker answers')),
      close: async () => {
        isClosed = true
      },
    }
    await expect(heldBus(broken, 'w.', log)).rejects.toMatchObject({ code: 'bus.unreachable' })
    expect(isClosed).toBe(true)
    expect(hold({}, undefined)).toBe(Number.POSITIVE_INFINITY)
  })
})
