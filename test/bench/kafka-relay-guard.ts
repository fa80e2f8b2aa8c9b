// A guard on the Kafka bus as `weir guard run` runs it: from rounds-cleared to its own topic. It
// keeps some memory of each conversation, like a real guard.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Guard } from '../../shared/contract/guard/guard.ts'
import { guardTopicSpec } from '../../shared/contract/retention.ts'
import { runGuard } from '../../shared/runtime/guards/run-guard.ts'
import { counted } from './kafka-counted-bus.ts'
import { guardName } from './kafka-relay-records.ts'
import { errorLog as log, openBus, partitions } from './kafka-topics.ts'
import type { OpenRelay } from './relay-options.ts'

/** Passes every call, and counts. */
export const passing: Guard<{ seen: number }> = {
  name: guardName,
  version: '1',
  tools: ['*'],
  deadlineMs: 60_000,
  onTimeout: 'deny',
  judge: ({ seen } = { seen: 0 }, { calls }) => ({
    state: { seen: seen + calls.length },
    verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow' })),
  }),
}

export const openGuard: OpenRelay = async ({ bootstrapServers, topicPrefix }, done) => {
  const bus = await openBus(bootstrapServers)
  await bus.ensureTopics([guardTopicSpec(topicPrefix, guardName, partitions)])
  const subscription = await runGuard(passing as Guard, {
    bus: counted(bus, done),
    topicPrefix,
    log,
  })
  while (!subscription.joined) await sleep(10)
  return {
    failed: subscription.failed,
    async close() {
      await subscription.close()
      await bus.close()
    },
  }
}
