// Guards over a real broker: registered, run by their own client, switched and removed, while the
// stages run on.

import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { UserAccess } from '../../apps/service/topics/print-acls.ts'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { Guard } from '../../shared/contract/guard/guard.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import {
  guardSetting,
  registeredGuards,
  switchGuard,
} from '../../shared/runtime/guards/guard-registry.ts'
import { startGuards } from '../../shared/runtime/guards/start-guards.ts'
import { removeStored } from '../../shared/runtime/settings/operator-setting.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { withPipeline } from '../support/pipeline.ts'
import { call, says, script, text } from '../support/script.ts'
import { openCommandFolder } from '../support/weir-command.ts'
import { metricOf, startUp } from '../support/weir-up.ts'

let brokers: string[] = []
beforeAll(async () => {
  brokers = (await sharedBroker()).bootstrapServers.split(',')
}, brokerStartMs)

const openClient = (tablesFolder?: string): Promise<Bus> =>
  openKafkaBus({
    client: { brokers, clientId: 'kafka-guards' },
    clock: systemClock,
    log: pino({ level: process.env.WEIR_TEST_LOG ?? 'fatal' }),
    tablesFolder,
  })

const noRemoval: Guard = {
  name: 'no-removal',
  version: '1',
  tools: ['exec'],
  deadlineMs: 20_000,
  onTimeout: 'deny',
  judge: (state, { calls }) => ({
    state,
    verdicts: calls.map(({ ordinal, arguments: { command } }) =>
      String(command).startsWith('rm')
        ? { ordinal, verdict: 'deny', code: 'removes', text: 'Nothing may be removed.' }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}

const guardFile = `
export default {
  name: 'no-removal', version: '1', tools: ['exec'], deadlineMs: 20000, onTimeout: 'deny',
  judge: (state, { calls }) => ({ state, verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'deny', code: 'removes', text: 'Nothing may be removed.' })) }),
}
`

/** The guards for which `weir topics acls` prints rights, each with the topics that it may write. */
async function guardUsers(
  run: (...args: string[]) => Promise<{ out: string }>,
  ...more: string[]
): Promise<string[]> {
  const { out } = await run('topics', 'acls', '--as', 'json', ...more)
  const { users } = JSON.parse(out) as { users: UserAccess[] }
  return users
    .filter(({ principal }) => principal.startsWith('guard.'))
    .map(({ principal, rights }) => {
      const written = rights.filter(
        ({ resource, operations }) => resource === 'topic' && operations.includes('Write'),
      )
      return `${principal}: ${written.map(({ name }) => name).join()}`
    })
    .toSorted()
}

describe('weir guard over Kafka', () => {
  it('runs one guard as a service with health and metrics, and topics, doctor and tail know it and another', async () => {
    const removes = () => [says(call('exec', { command: 'rm x' })), says(text('Done.'))]
    const topicPrefix = `guard-command-${randomUUID().slice(0, 8)}.`
    const environment = {
      WEIR_BUS: 'kafka',
      WEIR_BOOTSTRAP_SERVER: brokers.join(','),
      WEIR_TOPIC_PREFIX: topicPrefix,
      WEIR_PARTITIONS: '2',
    }
    const model = script(...removes(), ...removes())
    const commands = await openCommandFolder(model)
    const run = (...args: string[]) => commands.run(args, { environment })
    try {
      await writeFile(join(commands.folder, 'guard.mjs'), guardFile)
      await withPipeline(
        { model, topicPrefix, openBus: (folder) => openClient(join(folder, 'tables')) },
        async ({ ask, starts }) => {
          const guard = startUp(commands, {
            command: ['guard', 'run', 'guard.mjs', '--mode', 'enforce'],
            environment,
          })
          const register = [
            'guard',
            'register',
            'remote',
            '--version',
            '1',
            '--tools',
            'mail_*',
            '--deadline-ms',
            '500',
          ]
          expect(await run(...register)).toMatchObject({ code: 0, errors: '' })
          await guard.untilReady()
          expect(JSON.parse((await guard.probe('/readyz')).text)).toMatchObject({
            stages: {
              'guard.no-removal': {
                joined: true,
                partitions: { '0': 'caught up', '1': 'caught up' },
              },
            },
          })
          const { activity } = await ask('first')
          expect(activity.find(({ type }) => type === 'call-finished')).toMatchObject({
            status: 'denied',
          })
          expect(await starts()).toEqual([])
          const metrics = await guard.probe('/metrics')
          expect(
            metricOf(
              metrics,
              'weir_guard_verdicts_total{guard="no-removal",mode="enforce",verdict="deny"}',
            ),
          ).toBe(1)
          expect(metricOf(metrics, 'weir_guard_late_total{guard="no-removal"}')).toBe(0)

          const verdict = JSON.parse((await run('tail', 'guard-verdicts.no-removal')).out)
          expect(verdict).toMatchObject({
            type: 'guard-verdict',
            topic: `${topicPrefix}guard-verdicts.no-removal`,
          })
          const checked = await run(
            'topics',
            'check',
            '--bus',
            'kafka',
            '--replication-factor',
            '1',
          )
          expect(checked).toMatchObject({ code: 0, out: '19 topics, all as Weir needs them\n' })
          expect(await guardUsers(run)).toEqual([])
          expect(await guardUsers(run, '--registered')).toEqual([
            `guard.no-removal: ${topicPrefix}guard-verdicts.no-removal`,
            `guard.remote: ${topicPrefix}guard-verdicts.remote`,
          ])
          const doctor = (await run('doctor')).out
          expect(doctor).toContain('19 topics that begin with')
          expect(doctor).toMatch(/warning +guards +no process runs remote \(shadow\)/)
          guard.signal('SIGTERM')
          expect((await guard.ended).code).toBe(0)
        },
      )
    } finally {
      await commands.close()
    }
  }, 180_000)
})

describe('a guard over Kafka', () => {
  it('stops calls from its own client, only watches as a shadow, and does nothing once removed', async () => {
    const removes = (command = 'rm x') => [says(call('exec', { command })), says(text('Done.'))]
    const model = script(...removes(), ...removes('ls'), ...removes(), ...removes())
    const topicPrefix = `guards-${randomUUID()}.`
    await withPipeline(
      { model, topicPrefix, openBus: (folder) => openClient(join(folder, 'tables')) },
      async ({ ask, starts, wiring }) => {
        const bus = await openClient()
        const place = { ...wiring, bus }
        const guards = await startGuards({
          ...place,
          retentionMs: 7 * 24 * 3_600_000,
          guards: [noRemoval],
          mode: 'enforce',
          log: createLog({ level: 'silent' }),
        })
        try {
          const statuses = async (message: string) =>
            (await ask(message)).activity.flatMap((one) =>
              one.type === 'call-finished' ? [one.status] : [],
            )
          expect(await statuses('first')).toEqual(['denied'])
          expect(await statuses('second')).toEqual(['ok'])
          await switchGuard(place, 'no-removal', { mode: 'shadow', by: 'test' })
          expect(await statuses('third')).toEqual(['ok'])
          expect(await starts()).toHaveLength(2)
          await removeStored(guardSetting, place, { id: 'no-removal', by: 'test' })
          expect(await registeredGuards(place)).toEqual([])
          expect(await statuses('fourth')).toEqual(['ok'])
        } finally {
          await guards.close()
          await bus.close()
        }
      },
    )
  })
})
