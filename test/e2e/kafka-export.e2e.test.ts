// Bundles of a log on Kafka: by the broker's time, with gaps in the offsets.

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { exportBundle } from '../../apps/bundles/export/export.ts'
import { withLog } from '../../apps/history/open-log.ts'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import { firstOffsetSince } from '../../shared/bus/range.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { output } from '../support/output.ts'
import { withPipeline } from '../support/pipeline.ts'
import { refoldLog } from '../support/refold-log.ts'
import { call, says, text } from '../support/script.ts'

let bootstrapServer = ''
beforeAll(async () => {
  bootstrapServer = (await sharedBroker()).bootstrapServers
}, brokerStartMs)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-kafka-export-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('exports whole turns of a time range, which every stage folds again to the same records', async () => {
  const topicPrefix = `export-${randomUUID()}.`
  const file = join(folder, 'a.weir')
  const settings = readSettings(
    { bus: 'kafka', bootstrapServer, topicPrefix, dataFolder: folder },
    {},
  )
  const openBus = (to: string) =>
    openKafkaBus({
      client: { brokers: bootstrapServer.split(','), clientId: 'kafka-export' },
      clock: systemClock,
      log: pino({ level: 'fatal' }),
      tablesFolder: join(to, 'tables'),
    })
  const model = (request: { messages: unknown }) =>
    JSON.stringify(request.messages).includes('tool_result')
      ? says(text('done'))
      : says(call('exec', { command: 'ls' }))
  await withPipeline({ model, topicPrefix, openBus }, async ({ ask, bus }) => {
    await ask('before', { conversation: 'c' })
    await ask('somebody else', { conversation: 'other' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    const time = systemClock.now()
    await new Promise((resolve) => setTimeout(resolve, 50))
    await ask('after', { conversation: 'c' })

    for (const name of ['conversation-events', 'activity', 'model-deltas'])
      for (const { partition, begin, end } of await bus.ends(topicPrefix + name))
        for (const at of [0, time, systemClock.now() + 60_000]) {
          const range = { topic: topicPrefix + name, partition, from: begin, to: end }
          expect(await firstOffsetSince(bus, range, at)).toBe(
            await firstOffsetSince({ read: bus.read }, range, at),
          )
        }

    const { stream, text: printed } = output()
    expect(
      await exportBundle({ output: file, since: new Date(time).toISOString() }, settings, stream),
    ).toBe(0)
    expect(printed()).toContain('1 conversation, 1 turn,')
  })
  const { compared, missing, differing } = await withLog(settings, refoldLog, { bundle: file })
  expect({ missing, differing }).toEqual({ missing: [], differing: [] })
  expect(compared).toBeGreaterThan(10)
})
