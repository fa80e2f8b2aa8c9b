// Signed records over a real broker. A turn goes through all stages. The attacks of
// programs that may write every topic end in dead-letters. They have no key, the key of another
// principal, or a genuine record in another place.

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openBus } from '../../client/place/open-bus.ts'
import { addTenantKey } from '../../shared/bus/encryption/tenant-keys.ts'
import { createKeyFiles } from '../../shared/bus/signing/keys.ts'
import { encode } from '../../shared/codec/codec.ts'
import type { Bus, RecordToAppend } from '../../shared/contract/bus.ts'
import type { DeadLetter, Message } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { keyOf, type TopicName } from '../../shared/contract/topology.ts'
import { writeRegistration } from '../../shared/runtime/guards/guard-registry.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { until } from '../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { modelRequest, userMessage } from '../support/messages.ts'
import { type Pipeline, withPipeline } from '../support/pipeline.ts'
import { call, says, script, text } from '../support/script.ts'

const log = pino({ level: process.env.WEIR_TEST_LOG ?? 'silent' })
let bootstrapServer = ''
const keys = mkdtempSync(join(tmpdir(), 'weir-signed-'))
beforeAll(async () => {
  bootstrapServer = (await sharedBroker()).bootstrapServers
  createKeyFiles(keys)
}, brokerStartMs)
afterAll(() => rmSync(keys, { recursive: true }))

const topicPrefix = `signed-${randomUUID()}.`

/** `keyFile`: '' signs nothing. */
function busWith(keyFile: string, dataFolder = join(keys, 'data')): Promise<Bus> {
  const flags = { bus: 'kafka', bootstrapServer, topicPrefix, dataFolder, recordSigning: keyFile }
  return openBus(readSettings(flags, {}), log, { keepsTables: false })
}

/** Appends through a bus with the keys of one principal, or without keys. */
async function appendAs(principal: string, records: RecordToAppend[]): Promise<void> {
  const bus = await busWith(principal === '' ? '' : join(keys, `${principal}.json`))
  await bus.append(records).finally(() => bus.close())
}

function recordTo(
  { wiring: { partitions } }: Pipeline,
  topic: TopicName,
  message: Message,
  id?: string,
): RecordToAppend {
  const partition = partitionOf('c', partitions)
  return { topic: topicPrefix + topic, partition, key: keyOf(message), value: encode(message), id }
}

const failed: Message = {
  type: 'turn-failed',
  conversation: 'c',
  turn: null,
  stage: 'x',
  reason: 'y',
}

describe('signed records on Kafka', () => {
  it('let a turn pass, and refuse records that no allowed writer has signed', async () => {
    const model = script(
      says(call('exec', { command: 'ls' })),
      says(call('exec', { command: 'w' })),
    )
    await withPipeline({ model, topicPrefix, openBus: () => busWith(keys) }, async (pipeline) => {
      const { finished } = await pipeline.ask('list my files')
      expect(finished).toMatchObject({ outcome: 'answered', totals: { calls: 2 } })
      expect(await pipeline.records('dead-letters')).toEqual([])

      const partition = partitionOf('c', pipeline.wiring.partitions)
      await appendAs('', [
        recordTo(pipeline, 'client-messages', userMessage({ conversation: 'c' })),
        recordTo(pipeline, 'conversation-events', failed, `executor/${partition}/0/9`),
        recordTo(pipeline, 'model-requests', modelRequest(), `conversation/${partition}/900000/0`),
      ])
      // A stolen key of the validator may report a failed turn, and sign nothing else here.
      const forged = recordTo(pipeline, 'rounds-cleared', {
        type: 'claim',
        conversation: 'c',
        turn: 0,
        round: 1,
        ordinal: 0,
        try: 1,
        owner: 'o',
      })
      await expect(appendAs('validator', [forged])).rejects.toThrow('no key to sign')
      // A genuine record of the log, in another partition.
      const [genuine] = await pipeline.bus.read({
        topic: `${topicPrefix}client-messages`,
        partition,
        from: 0,
        limit: 1,
      })
      await appendAs('', [{ ...(genuine as RecordToAppend), partition: 1 - partition }])

      await until(async () => (await pipeline.records('dead-letters')).length >= 4)
      const letters = (await pipeline.records('dead-letters')) as DeadLetter[]
      expect(letters.map(({ topic, code, reason }) => [topic, code, reason]).toSorted()).toEqual(
        [
          ['client-messages', 'it has no signature'],
          ['client-messages', expect.stringContaining('its signature does not fit')],
          ['conversation-events', 'it has no signature'],
          ['model-requests', 'it has no signature'],
        ].map(([topic, reason]) => [`${topicPrefix}${topic}`, 'record.unsigned', reason]),
      )
      const second = await pipeline.ask('and again')
      expect(second.finished).toMatchObject({ outcome: 'answered' })
    })
  })

  it('may be encrypted too, and without the keys of tenants the log shows no text', async () => {
    const file = join(keys, 'tenants')
    addTenantKey(file, '*', new Date())
    const prefix = `encrypted-${randomUUID()}.`
    const opened = (flags: object) => {
      const place = { bus: 'kafka', bootstrapServer, topicPrefix: prefix }
      const dataFolder = join(keys, 'encrypted')
      const settings = { ...place, dataFolder, recordSigning: keys, ...flags }
      return openBus(readSettings(settings, {}), log, { keepsTables: false })
    }
    const model = script(says(call('exec', { command: 'ls' })), says(text('Two herons.')))
    const open = () => opened({ encryptionKeys: file })
    await withPipeline({ model, topicPrefix: prefix, openBus: open }, async (pipeline) => {
      const { finished } = await pipeline.ask('list my herons')
      expect(finished).toMatchObject({ outcome: 'answered', reply: 'Two herons.' })
      expect(await pipeline.records('dead-letters')).toEqual([])
      const without = await opened({})
      const partition = partitionOf('c', pipeline.wiring.partitions)
      for (const topic of ['client-messages', 'model-deltas', 'rounds-cleared', 'activity']) {
        const place = { topic: `${prefix}${topic}`, partition, from: 0, limit: 100 }
        const values = (await without.read(place)).map(({ value }) => Buffer.from(value ?? []))
        expect(values.length).toBeGreaterThan(0)
        expect(values.filter((value) => value.includes('heron') || value[0] !== 1)).toEqual([])
      }
      await without.close()
    })
  })

  it('let no table keep an unsigned record, and an earlier one stays', async () => {
    const guard = {
      name: 'shell',
      version: '1',
      deadlineMs: 1_000,
      onTimeout: 'deny' as const,
      rules: null,
      tools: [{ pattern: '*', mode: 'shadow' as const }],
    }
    const bus = await busWith(keys)
    const stranger = await busWith('')
    try {
      await writeRegistration({ bus, topicPrefix }, guard, 'test')
      const table = { topic: `${topicPrefix}policies`, partition: 0 }
      await stranger.append([{ ...table, key: 'guard:shell', value: null }])
      const listed = await bus.list({ ...table, prefix: 'guard:', upToNow: true })
      expect(listed.map(({ key }) => key)).toEqual(['guard:shell'])
    } finally {
      await stranger.close()
      await bus.close()
    }
  })

  it('refuse to start a stage that cannot check its inbox', async () => {
    const bus = await busWith(join(keys, 'edge.json'))
    const subscribing = bus.subscribe({
      group: `${topicPrefix}validator`,
      topic: `${topicPrefix}rounds-proposed`,
      assign: () => Promise.reject(new Error('never')),
    })
    await expect(subscribing).rejects.toMatchObject({ code: 'settings.invalid' })
    await bus.close()
  })
})
