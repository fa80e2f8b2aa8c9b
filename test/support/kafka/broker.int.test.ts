// The brokers that other tests use: shared, restarted, paused, and stopped when their process is
// gone.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import kafkajs, { type Kafka } from 'kafkajs'
import '../../../shared/bus/kafka/driver.ts' // its patch: no timers in the past
import { brokerStartMs, runFolderVariable, sharedBroker, startBroker } from './broker.ts'
import type { Broker } from './broker-options.ts'

const waitMs = 60_000

describe('the shared broker', () => {
  it(
    'is one for all callers, and stores and returns records',
    async () => {
      const [{ bootstrapServers }, again] = await Promise.all([sharedBroker(), sharedBroker()])
      expect(again.bootstrapServers).toBe(bootstrapServers)
      const topic = `shared-${process.pid}`
      await createTopic(bootstrapServers, topic)
      await produce(bootstrapServers, topic, ['one', 'two'])
      expect(await consume(bootstrapServers, topic, 2)).toEqual(['one', 'two'])
    },
    brokerStartMs + waitMs,
  )
})

describe('an own broker', () => {
  let broker: Broker
  beforeAll(async () => {
    broker = await startBroker({ isKilled: true })
  }, brokerStartMs)
  afterAll(() => broker.stop())

  it(
    'keeps its records and its address after a kill and after a shutdown',
    async () => {
      await createTopic(broker.bootstrapServers, 'kept')
      await produce(broker.bootstrapServers, 'kept', ['before the kill'])
      await broker.kill()
      await expect(produce(broker.bootstrapServers, 'kept', ['to nobody'])).rejects.toThrow()
      await broker.restart()
      await produce(broker.bootstrapServers, 'kept', ['before the restart'])
      await broker.restart()
      expect(await consume(broker.bootstrapServers, 'kept', 2)).toEqual([
        'before the kill',
        'before the restart',
      ])
    },
    brokerStartMs,
  )

  it(
    'answers nothing while it is paused',
    async () => {
      await broker.pause()
      const answered = produce(broker.bootstrapServers, 'kept', ['while it was paused']).then(
        () => 'answered',
      )
      expect(await Promise.race([answered, sleep(1_000, 'silence')])).toBe('silence')
      await broker.resume()
      expect(await answered).toBe('answered')
    },
    waitMs,
  )
})

describe('a killed process with brokers', () => {
  it(
    'leaves no broker, neither the shared one nor its own',
    async () => {
      const parent = await mkdtemp(join(tmpdir(), 'weir-orphans-'))
      const folder = join(parent, 'run')
      const module = fileURLToPath(new URL('broker.ts', import.meta.url))
      const source = `
        const { sharedBroker, startBroker } = await import(${JSON.stringify(module)})
        const brokers = await Promise.all([sharedBroker(), startBroker()])
        process.stdout.write(JSON.stringify(brokers.map(({ bootstrapServers }) => bootstrapServers)))
        setInterval(() => {}, 1000)`
      const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
        env: { ...process.env, KAFKA_BROKERS: '', [runFolderVariable]: folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [addresses] = (await once(child.stdout, 'data')) as [Buffer]
      const brokers = JSON.parse(String(addresses)) as string[]
      expect(await Promise.all(brokers.map(isOpen))).toEqual([true, true])
      child.kill('SIGKILL')
      for (const address of brokers) while (await isOpen(address)) await sleep(100)
      while (existsSync(folder)) await sleep(100)
      await rmdir(parent)
    },
    brokerStartMs,
  )
})

function client(bootstrapServers: string, retries = 3): Kafka {
  return new kafkajs.Kafka({
    brokers: [bootstrapServers],
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries, maxRetryTime: 1_000 },
  })
}

async function createTopic(bootstrapServers: string, topic: string): Promise<void> {
  const admin = client(bootstrapServers).admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic }] })
  await admin.disconnect()
}

async function produce(bootstrapServers: string, topic: string, values: string[]): Promise<void> {
  const producer = client(bootstrapServers).producer({ createPartitioner: () => () => 0 })
  try {
    await producer.connect()
    await producer.send({ topic, messages: values.map((value) => ({ value })) })
  } finally {
    await producer.disconnect()
  }
}

async function consume(bootstrapServers: string, topic: string, count: number): Promise<string[]> {
  const consumer = client(bootstrapServers, 60).consumer({ groupId: `reads-${topic}` }) // a broker takes no groups for a while after its start
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const values: string[] = []
  const all = Promise.withResolvers<void>()
  consumer.on('consumer.crash', ({ payload }) => payload.restart || all.reject(payload.error))
  await consumer.run({
    eachMessage: async ({ message }) => {
      values.push(String(message.value))
      if (values.length === count) all.resolve()
    },
  })
  await all.promise
  await consumer.disconnect()
  return values
}

function isOpen(address: string): Promise<boolean> {
  const [host, port] = address.split(':') as [string, string]
  return new Promise((resolve) => {
    const socket = connect(Number(port), host)
    socket
      .once('connect', () => resolve(socket.destroy() !== undefined))
      .once('error', () => resolve(false))
  })
}
