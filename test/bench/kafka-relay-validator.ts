// The validator on the Kafka bus as `weir up` runs it, without health and metrics.

import { setTimeout as sleep } from 'node:timers/promises'
import { logJudgements } from '../../services/validator/log-judgements.ts'
import { validator } from '../../services/validator/reducer.ts'
import { runStage } from '../../shared/runtime/run-stage.ts'
import { counted } from './kafka-counted-bus.ts'
import { errorLog as log, openBus, signed } from './kafka-topics.ts'
import type { OpenRelay } from './relay-options.ts'

export const openValidator: OpenRelay = async ({ bootstrapServers, topicPrefix, keys }, done) => {
  const plain = await openBus(bootstrapServers)
  const bus = keys === undefined ? plain : signed(plain, keys, topicPrefix)
  const subscription = await runStage(
    { stage: validator, observed: logJudgements },
    { bus: counted(bus, done), topicPrefix, log },
  )
  while (!subscription.joined) await sleep(10)
  return {
    failed: subscription.failed,
    async close() {
      await subscription.close()
      await bus.close()
    },
  }
}
