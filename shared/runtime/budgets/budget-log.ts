// The topic `budgets` on a bus: the records of each tenant and account in their partition.

import { followSince } from '../../bus/range.ts'
import type { Bus, RecordToAppend } from '../../contract/bus.ts'
import type { Message } from '../../contract/messages.ts'
import { partitionOf } from '../../contract/partition.ts'
import type { BudgetLog, PerformerContext } from '../../contract/performer.ts'
import { WeirError } from '../../lib/errors.ts'
import { writeObservation } from '../observation.ts'
import { toRecord } from '../record.ts'

export function budgetLog({
  bus,
  topicPrefix,
  log,
  onWritten = () => {},
}: {
  bus: Bus
  topicPrefix: string
  log: PerformerContext['log']
  /** Called with each acknowledged record. */
  onWritten?: (message: Message, record: RecordToAppend) => void
}): BudgetLog {
  const topic = `${topicPrefix}budgets`
  let partitions: number | undefined

  async function partitionOfKey(key: string): Promise<number> {
    partitions ??= (await bus.ends(topic)).length
    if (partitions === 0) throw new WeirError('bus.topic-missing', `the topic ${topic} is missing`)
    return partitionOf(key, partitions)
  }

  return {
    partitionOf: partitionOfKey,
    salt: async () => JSON.stringify([topic, await bus.topicId?.(topic)]),
    async append(key, message) {
      const partition = await partitionOfKey(key)
      const record = toRecord({ topic, partition, message })
      const [appended] = await writeObservation(bus, [record], log)
      if (appended === undefined)
        throw new WeirError('runtime.assertion', `${topic} acknowledged no record`)
      onWritten(message, record)
      return appended
    },
    follow: (of) => followSince(bus, { topic, ...of }),
  }
}
