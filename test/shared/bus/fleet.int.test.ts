// Readers of a log that a newer process also writes: an older build learns the schemas from the table.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { LockEntry } from '../../../schemas/lock-entry.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { learningBus } from '../../../shared/bus/fleet/learning-bus.ts'
import { codecOf, decode, knownSchemas } from '../../../shared/codec/codec.ts'
import type { Bus, StoredRecord } from '../../../shared/contract/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { cancel } from '../../support/messages.ts'

const newestCancel = knownSchemas.findLast(({ type }) => type === 'cancel') as LockEntry
const nextCancel = (id: number): LockEntry => ({
  ...newestCancel,
  id,
  version: newestCancel.version + 1,
  schema: {
    ...newestCancel.schema,
    fields: [...newestCancel.schema.fields, { name: 'why', type: 'string', default: '' }],
  },
})
const nextType = (id: number): LockEntry => ({
  ...nextCancel(id),
  type: 'call-weighed',
  version: 1,
  schema: { ...nextCancel(id).schema, name: 'weir.CallWeighed' },
})

const topic = 'w.rounds-checked'
let bus: Bus

beforeEach(async () => {
  bus = learningBus(await openEmbeddedBus({ file: ':memory:', clock: systemClock }), 'w.')
  await bus.ensureTopics([
    { name: topic, kind: 'log', partitions: 1 },
    { name: 'w.policies', kind: 'table', partitions: 1 },
  ])
})

afterEach(() => bus.close())

/** As a newer process does: the schema first, then the record. */
async function writeNewer(entry: LockEntry): Promise<void> {
  const { encode } = codecOf([...knownSchemas, entry])
  const value = encode({ ...cancel(), why: 'new', type: entry.type } as never)
  const { id, type, version, schema } = entry
  const message = {
    type: 'format-schemas',
    format: 9,
    weir: '9.0.0',
    schemas: JSON.stringify([{ id, type, version, schema }]),
  } as const
  await bus.append([toRecord({ topic: 'w.policies', partition: 0, message })])
  await bus.append([{ topic, partition: 0, key: 'c1', value }])
}

/** Reads with a stage's subscription. Resolves with its first records, or rejects with its failure. */
function subscribed(): Promise<StoredRecord[]> {
  const { promise, resolve, reject } = Promise.withResolvers<StoredRecord[]>()
  void bus
    .subscribe({
      group: 'w.loop-detector',
      topic,
      assign: async () => ({
        position: 0,
        async read(records) {
          resolve(records)
          return { outputs: [], commit: { offset: records.length, metadata: '' } }
        },
        acknowledged() {},
        close: async () => {},
      }),
    })
    .then(({ failed }) => failed.catch(reject))
  return promise
}

describe('a record of a newer process', () => {
  it('reaches a stage once the stage has learned its schema from the table', async () => {
    await writeNewer(nextCancel(9_001))
    const [record] = await subscribed()
    expect(decode(record?.value as Uint8Array)).toEqual(cancel())
  })

  it('of a new type stops the stage before it, with the place and the way out', async () => {
    await writeNewer(nextType(9_002))
    await expect(subscribed()).rejects.toMatchObject({
      code: 'codec.newer-schema',
      message: expect.stringMatching(
        /stopped before the record w\.rounds-checked\/0\/0, and nothing is lost.*'call-weighed'.*upgrade this process/,
      ),
    })
  })

  it('is given to other readers as it is', async () => {
    await writeNewer(nextType(9_003))
    const records = await bus.read({ topic, partition: 0, from: 0, limit: 10 })
    expect(records).toHaveLength(1)
    expect(() => decode(records[0]?.value as Uint8Array)).toThrow(/call-weighed/)
  })
})

it('a schema id that no Weir has stored reaches the stage, which writes a dead letter', async () => {
  const value = Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]), Buffer.from('nonsense')])
  await bus.append([{ topic, partition: 0, key: 'c1', value }])
  const [record] = await subscribed()
  expect(() => decode(record?.value as Uint8Array)).toThrow(/another program writes to this topic/)
})
