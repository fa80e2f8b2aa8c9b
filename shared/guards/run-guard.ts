// Runs one guard on a bus: a consumer group of its own over `rounds-cleared`, whose answers go to its own topic. As many instances as there are partitions
// share the work; all run the same code.

import type { Logger } from 'pino'
import type { Bus, Subscription } from '../bus/port.ts'
import type { Guard } from '../guard.ts'
import { guardTopicName } from '../topology.ts'
import { readGuardPartition } from './guard-partition.ts'

/** Its topic must exist (register.ts). The subscription's `failed` says when it cannot go on. */
export function runGuard(guard: Guard, { bus, topicPrefix, log }: { bus: Bus; topicPrefix: string; log: Logger }): Promise<Subscription> {
  const ofGuard = log.child({ guard: guard.name })
  return bus.subscribe({
    group: `${topicPrefix}guard.${guard.name}`,
    topic: `${topicPrefix}rounds-cleared`,
    assign: async (assignment) =>
      readGuardPartition({ guard, assignment, topic: topicPrefix + guardTopicName(guard.name), clock: bus.clock, log: ofGuard }),
  })
}
