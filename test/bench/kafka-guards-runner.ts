// Guards as their own process: registered to enforce for every tool, and run until the bench ends.
// Prints `ready` when all are in their groups.

import type { Guard } from '../../shared/contract/guard/guard.ts'
import { startGuards } from '../../shared/runtime/guards/start-guards.ts'
import { optionsOfParent, send, untilParentEnds } from './kafka-child.ts'
import { passing } from './kafka-relay-guard.ts'
import { errorLog as log, openBus, partitions } from './kafka-topics.ts'

export type GuardsOptions = { bootstrapServers: string; topicPrefix: string; guards: string[] }

const { bootstrapServers, topicPrefix, guards } = optionsOfParent<GuardsOptions>()
const bus = await openBus(bootstrapServers)
const running = await startGuards({
  bus,
  topicPrefix,
  partitions,
  retentionMs: 3_600_000,
  mode: 'enforce',
  log,
  guards: guards.map((name): Guard => ({ ...(passing as Guard), name })),
})
send('ready')
await Promise.race([untilParentEnds(), running.failed])
await running.close()
await bus.close()
