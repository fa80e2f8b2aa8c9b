// A broker that is killed, paused, or rejects every login. Acknowledged records remain, order
// holds, and work continues afterwards.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Logger, pino } from 'pino'
import type { Bus } from '../../../../shared/contract/bus.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { brokerStartMs, startBroker } from '../../../support/kafka/broker.ts'
import type { Broker } from '../../../support/kafka/broker-options.ts'
import { newName, readAll, record } from '../contract-world.ts'
import { commitBehind, subscribeRecording, textOf, until } from '../recording-readers.ts'
import { kafkaWorld } from './kafka-world.ts'

let broker: Broker
beforeAll(async () => {
  broker = await startBroker({
    isKilled: true,
    listeners: { LOGIN: 'SASL_PLAINTEXT' },
    users: { alice: 'a-secret', weir: 'another-secret' },
    properties: {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS;User:weir',
      'connections.max.reauth.ms': '2000',
    },
  })
}, brokerStartMs)
afterAll(() => broker?.stop())
const world = kafkaWorld(async () => broker)

/**
 * Sessions end and rebalances go on without a silent member, but never because of a busy machine.
 */
const shortTimes = { sessionMs: 5_000, rebalanceMs: 8_000 }

function capturedLog(): { log: Logger; lines: string[] } {
  const lines: string[] = []
  return { log: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }), lines }
}

/** Appends numbers one after the other, and a stage copies them to `copy`, until stop(). */
async function load(
  bus: Bus,
): Promise<{ inbox: string; copy: string; written: string[]; stop(): Promise<void> }> {
  const [inbox, copy] = [await world.topic(bus), await world.topic(bus)]
  const recording = await subscribeRecording(bus, {
    group: newName('group'),
    topic: inbox,
    step: (batch) => ({
      outputs: batch.map((each) => ({
        ...record(copy, textOf(each)),
        id: `copy/0/${each.offset}/0`,
      })),
      commit: commitBehind(batch),
    }),
  })
  let isStopped = false
  const written: string[] = []
  const writing = (async () => {
    for (let n = 0; !isStopped; n += 1) {
      await bus.append([record(inbox, `${n}`)])
      written.push(`${n}`)
    }
  })()
  await until('it runs', () => written.length > 20)
  return {
    inbox,
    copy,
    written,
    async stop() {
      isStopped = true
      await writing
      await until('all is copied', async () =>
        (await readAll(bus, copy)).map(textOf).includes(written.at(-1) ?? ''),
      )
      await recording.subscription.close()
    },
  }
}

/** Repeats are allowed. Without them the copy must equal the input, in order. */
function withoutRepeats(texts: string[]): string[] {
  let last = -1
  return texts.filter((text) => {
    const isNew = Number(text) > last
    if (isNew) last = Number(text)
    return isNew
  })
}

describe('a broker that goes away under load', () => {
  it.each([
    ['is killed and started again', () => broker.kill().then(() => broker.restart())],
    [
      'is paused for longer than requests and sessions last',
      async () => {
        await broker.pause()
        await new Promise((resolve) => setTimeout(resolve, shortTimes.sessionMs + 2_000))
        await broker.resume()
      },
    ],
  ])(
    '%s: keeps all acknowledged records and their order, and work continues',
    async (_, recovery) => {
      const { log, lines } = capturedLog()
      const client = {
        brokers: world.brokers,
        clientId: 'away',
        requestTimeout: 2_000,
        connectionTimeout: 1_000,
      }
      const bus = await world.open({ client, log, times: shortTimes })
      const running = await load(bus)
      const before = running.written.length
      await recovery()
      await until('it goes on', () => running.written.length > before + 50)
      await running.stop()
      const inbox = (await readAll(bus, running.inbox)).map(textOf)
      const copy = (await readAll(bus, running.copy)).map(textOf)
      expect(withoutRepeats(inbox)).toEqual(running.written)
      expect(withoutRepeats(copy)).toEqual(running.written)
      const loud = lines
        .map((line) => JSON.parse(line) as { level: number; msg: string })
        .filter(({ level }) => level >= 40)
      expect(loud.length).toBeLessThan(20)
    },
  )
})

describe('a broker that is away when a service starts', () => {
  it('is retried by a service that needs the topics', async () => {
    const bus = await world.open()
    await broker.kill()
    const topic = newName('late')
    const ensured = bus.ensureTopics([{ name: topic, kind: 'log', partitions: 1 }])
    await broker.restart()
    await ensured
    await bus.append([record(topic, 'a')])
    expect((await readAll(bus, topic)).map(textOf)).toEqual(['a'])
  })
})

describe('a broker that says nothing more', () => {
  it('does not delay a closing bus: the writes of its readers fail', async () => {
    let hastes = 1
    const hasty = {
      ...systemClock,
      after: (ms: number, fire: () => void) => systemClock.after(ms / hastes, fire),
    }
    const bus = await world.open({ clock: hasty, times: shortTimes })
    const topic = await world.topic(bus)
    const { promise: assigned, resolve: assign } = Promise.withResolvers<void>()
    let outcome: unknown
    const subscription = await bus.subscribe({
      group: newName('group'),
      topic,
      async assign() {
        assign()
        return {
          position: 0,
          read: async () => ({ outputs: [], commit: undefined }),
          acknowledged() {},
          async close() {
            outcome = await bus
              .append([record(topic, 'what it saw')])
              .catch((error: unknown) => error)
          },
        }
      },
    })
    await assigned
    await broker.pause()
    try {
      hastes = 20
      await subscription.close()
    } finally {
      await broker.resume()
    }
    expect(outcome).toMatchObject({ code: 'bus.unreachable', retryable: false })
  })
})

describe('a broker with a login', () => {
  const client = (username: string, password: string) => ({
    brokers: [broker.listeners.LOGIN ?? ''],
    clientId: 'login',
    reauthenticationThreshold: 500,
    sasl: { mechanism: 'plain' as const, username, password },
  })

  it('rejects a wrong password at once, and the log contains no password', async () => {
    const { log, lines } = capturedLog()
    await expect(world.open({ client: client('weir', 'wrong-secret'), log })).rejects.toMatchObject(
      { code: 'bus.unauthorized' },
    )
    expect(lines.join('\n')).not.toContain('wrong-secret')
  })

  it('rejects an action without permission, and the error names the action', async () => {
    const topic = await world.topic(await world.open())
    const { log, lines } = capturedLog()
    const alice = await world.open({ client: client('alice', 'a-secret'), log })
    const refused = {
      code: 'bus.unauthorized',
      retryable: false,
      message: expect.stringContaining(topic),
    }
    await expect(alice.append([record(topic, 'a')])).rejects.toMatchObject(refused)
    await expect(alice.ends(topic)).rejects.toMatchObject(refused)
    await world.admin.createAcls({
      acl: ['DESCRIBE', 'READ'].map((operation) => ({
        resourceType: 2,
        resourceName: topic,
        resourcePatternType: 3,
        principal: 'User:alice',
        host: '*',
        operation: operation === 'READ' ? 3 : 8,
        permissionType: 3,
      })),
    })
    await until(
      'the right is there',
      async () => (await alice.ends(topic).catch(() => [])).length === 1,
    )
    await expect(alice.append([record(topic, 'a')])).rejects.toMatchObject(refused)
    const recording = await subscribeRecording(alice, { group: newName('group'), topic })
    await expect(recording.subscription.failed).rejects.toMatchObject({
      code: 'bus.unauthorized',
      message: expect.stringContaining('group'),
    })
    expect(recording.partitions.size).toBe(0)
    expect(lines.join('\n')).not.toContain('a-secret')
  })

  it('renews sessions during work without losing a record', async () => {
    const bus = await world.open({ client: client('weir', 'another-secret') })
    const running = await load(bus)
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    await running.stop()
    expect((await readAll(bus, running.copy)).map(textOf)).toEqual(running.written)
  })
})
