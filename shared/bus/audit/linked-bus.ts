// A bus that links the evidence in `audit` as it writes it: the one place that makes the chains
// (shared/contract/audit/link.ts).
// A chain has one writer and no gap. After an append that failed, its records may be
// missing, so the next one begins a new chain.
// A record also names the newest record that its partition had, of any writer. So the
// last record of a chain is covered by the next one of another chain.
// A record names none if the partition cannot be read: a change needs no evidence.

import { randomBytes } from 'node:crypto'
import { encodeInForce } from '../../codec/codec.ts'
import { messageOf } from '../../codec/message-of.ts'
import { isEvidence, recordHash, withLink } from '../../contract/audit/link.ts'
import type { Bus, RecordToAppend } from '../../contract/bus.ts'
import { subscribeThrough } from '../reader-through.ts'

/** The newest records among which the newest readable one is looked for. */
const lookBackMax = 100

export function linkedBus(bus: Bus, topicPrefix: string): Bus {
  const topic = `${topicPrefix}audit`
  const isLinked = (record: RecordToAppend) => record.topic === topic
  let chains = createChains(bus, topic)
  let last: Promise<unknown> = Promise.resolve()

  return {
    ...bus,

    async append(records, options) {
      if (!records.some(isLinked)) return bus.append(records, options)
      // One after the other: a chain has the order of its appends.
      const appended = last.then(async () => {
        try {
          return await bus.append(await chains.link(records), options)
        } catch (error) {
          chains = createChains(bus, topic)
          throw error
        }
      })
      last = appended.catch(() => {})
      return appended
    },

    subscribe: subscribeThrough(bus, (reader) => {
      const ofReader = createChains(bus, topic)
      return {
        ...reader,
        async read(records) {
          const step = await reader.read(records)
          if (!step.outputs.some(isLinked)) return step
          return { ...step, outputs: await ofReader.link(step.outputs) }
        },
      }
    }),
  }
}

type Chain = { writer: string; sequence: number; previous: string }

/** The chains of one writer, one for each partition. */
function createChains(bus: Pick<Bus, 'ends' | 'read'>, topic: string) {
  const chains = new Map<number, Chain>()

  async function linked(record: RecordToAppend): Promise<RecordToAppend> {
    const message = messageOf(record.value)
    if (!isEvidence(message)) return record
    const { partition } = record
    const { writer, sequence, previous } = chains.get(partition) ?? newChain()
    const seen = await newestHash(bus, topic, partition).catch(() => '')
    const own = withLink(message, { writer, sequence: sequence + 1, previous, seen })
    const hash = recordHash(own) ?? ''
    chains.set(partition, { writer, sequence: sequence + 1, previous: hash })
    return { ...record, value: encodeInForce(own) }
  }

  return {
    async link(records: readonly RecordToAppend[]): Promise<RecordToAppend[]> {
      const all: RecordToAppend[] = []
      for (const record of records) all.push(record.topic === topic ? await linked(record) : record)
      return all
    },
  }
}

function newChain(): Chain {
  return { writer: randomBytes(9).toString('base64url'), sequence: 0, previous: '' }
}

/** Of the newest record that this process can read. Empty: there is none. */
async function newestHash(
  bus: Pick<Bus, 'ends' | 'read'>,
  topic: string,
  partition: number,
): Promise<string> {
  const ends = (await bus.ends(topic, [partition])).find((one) => one.partition === partition)
  if (ends === undefined || ends.end === ends.begin) return ''
  const from = Math.max(ends.begin, ends.end - lookBackMax)
  const records = await bus.read({ topic, partition, from, to: ends.end, limit: lookBackMax })
  const hashes = records.flatMap(({ value }) => {
    const message = messageOf(value)
    return (isEvidence(message) && recordHash(message)) || []
  })
  return hashes.at(-1) ?? ''
}
