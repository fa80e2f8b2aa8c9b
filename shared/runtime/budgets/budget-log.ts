// The topic `budgets` on a bus: the records of each tenant in its partition.

import { followSince } from '../../bus/range.ts'
import type { Bus } from '../../contract/bus.ts'
import { partitionOf } from '../../contract/partition.ts'
import type { BudgetLog, PerformerContext } from '../../contract/performer.ts'
import { WeirError } from '../../lib/errors.ts'
import { writeObservation } from '../observation.ts'
import { toRecord } from '../record.ts'

export function budgetLog({
  bus,
  topicPrefix,
  log,
}: {
  bus: Bus
  topicPrefix: string
  log: PerformerContext['log']
}): BudgetLog {
  const topic = `${topicPrefix}budgets`
  let partitions: number | undefined

  async function partitionOfTenant(tenant: string): Promise<number> {
    partitions ??= (await bus.ends(topic)).length
    if (partitions === 0) throw new WeirError('bus.topic-missing', `the topic ${topic} is missing`)
    return partitionOf(tenant, partitions)
  }

  return {
    partitionOf: partitionOfTenant,
    async append(tenant, message) {
      const partition = await partitionOfTenant(tenant)
      const [appended] = await writeObservation(bus, [toRecord({ topic, partition, message })], log)
      if (appended === undefined)
        throw new WeirError('runtime.assertion', `${topic} acknowledged no record`)
      return appended
    },
    follow: (of) => followSince(bus, { topic, ...of }),
  }
}
