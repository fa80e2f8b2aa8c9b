// The guard in Python on a real broker, in front of real stages. Without Python, confluent-kafka
// and fastavro the test is skipped and reported as skipped. WEIR_TEST_PYTHON names another Python,
// for example that of a virtual environment.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openKafkaBus } from '../../../../shared/bus/kafka/bus.ts'
import { decode } from '../../../../shared/codec/codec.ts'
import type { GuardVerdict } from '../../../../shared/contract/messages.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { switchGuard } from '../../../../shared/runtime/guards/guard-registry.ts'
import { until } from '../../../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../../../support/kafka/broker.ts'
import { type Pipeline, withPipeline } from '../../../support/pipeline.ts'
import { call, says, script, text } from '../../../support/script.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const guardFile = join(root, 'services', 'guards', 'python', 'no_customer_data.py')
const python = process.env.WEIR_TEST_PYTHON ?? 'python3'
const hasPackages = spawnSync(python, ['-c', 'import confluent_kafka, fastavro']).status === 0
const describeWithPython = hasPackages ? describe : describe.skip

const guardName = 'no-customer-data'

describeWithPython('the guard in Python', () => {
  let brokers = ''
  beforeAll(async () => {
    brokers = (await sharedBroker()).bootstrapServers
  }, brokerStartMs)

  it('stops a call with an e-mail address, answers for all calls of a round, and continues after a kill', async () => {
    const topicPrefix = `python-${randomUUID()}.`
    const model = script(
      says(call('exec', { command: 'ls' }), call('exec', { command: 'search ann@example.com' })),
      says(text('One.')),
      says(call('exec', { command: 'mail bob@example.com' })),
      says(text('Two.')),
      says(call('exec', { command: 'search ann@example.com' })),
      says(text('Three.')),
    )
    const openBus = (folder: string) =>
      openKafkaBus({
        client: { brokers: brokers.split(','), clientId: 'python-guard' },
        clock: systemClock,
        log: pino({ level: 'fatal' }),
        tablesFolder: join(folder, 'tables'),
      })
    await withPipeline({ model, topicPrefix, openBus }, async (pipeline) => {
      const register = [
        'guard',
        'register',
        guardName,
        '--version',
        '1',
        '--tools',
        'ex*=enforce',
        '--deadline-ms',
        '20000',
      ]
      const onKafka = [
        '--bus',
        'kafka',
        '--bootstrap-server',
        brokers,
        '--topic-prefix',
        topicPrefix,
      ]
      execFileSync(join(root, 'bin', 'weir'), [...register, ...onKafka])
      let running = start(topicPrefix, brokers)
      try {
        const first = await pipeline.ask('first')
        expect(first.activity.filter(({ type }) => type === 'call-finished')).toMatchObject([
          {
            ordinal: 1,
            status: 'denied',
            reason: 'vetoed by guard no-customer-data: customer-data',
          },
          { ordinal: 0, status: 'ok' },
        ])
        expect(JSON.stringify(pipeline.server.requests[1])).toContain(
          'which must not leave the company',
        )
        expect(await pipeline.starts()).toHaveLength(1)

        running.kill('SIGKILL')
        await once(running, 'exit')
        const second = pipeline.ask('second')
        running = start(topicPrefix, brokers)
        expect((await second).activity).toContainEqual(
          expect.objectContaining({
            type: 'call-finished',
            reason: 'vetoed by guard no-customer-data: customer-data',
          }),
        )
        expect(await pipeline.starts()).toHaveLength(1)

        await switchGuard(pipeline.wiring, guardName, { mode: 'shadow', by: 'test' })
        await pipeline.ask('third')
        expect(await pipeline.starts()).toHaveLength(2)
        await until(async () => (await verdictsOf(pipeline)).length >= 3)
        const verdicts = await verdictsOf(pipeline)
        expect(
          verdicts.map(({ enforces, deadlineMs, guard }) => ({ enforces, deadlineMs, guard })),
        ).toContainEqual({
          enforces: [],
          deadlineMs: 20_000,
          guard: 'no-customer-data',
        })
        expect(verdicts.every(({ clearedAt, judgedMs }) => clearedAt > 0 && judgedMs >= 0)).toBe(
          true,
        )
      } finally {
        running.kill('SIGKILL')
      }
    })
  })
})

function start(topicPrefix: string, brokers: string): ChildProcess {
  const env = {
    ...process.env,
    WEIR_TOPIC_PREFIX: topicPrefix,
    WEIR_BOOTSTRAP_SERVER: brokers,
    WEIR_SCHEMAS: join(root, 'schemas', 'lock.json'),
  }
  return spawn(python, [guardFile], { env, stdio: ['ignore', 'inherit', 'inherit'] })
}

async function verdictsOf({ bus, wiring }: Pipeline): Promise<GuardVerdict[]> {
  const topic = `${wiring.topicPrefix}guard-verdicts.${guardName}`
  const all: GuardVerdict[] = []
  for (const { partition } of await bus.ends(topic))
    for (const { value } of await bus.read({ topic, partition, from: 0, limit: 1_000 }))
      all.push(decode(value as Uint8Array) as GuardVerdict)
  return all
}
