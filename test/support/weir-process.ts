// Weir as a process, for tests that kill it: all stages on one file. It sends its messages (again
// after a restart, when their ids are known), waits until every turn has ended, and exits with 0.
// Usage: weir-process.ts OPTIONS, a JSON object.

import { dirname } from 'node:path'
import { pino } from 'pino'
import { startStages } from '../../services/stages.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus, PartitionReader } from '../../shared/contract/bus.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { recordedTool, testAgent } from './pipeline.ts'

/**
 * `dieAt`: the step on the bus at which it kills itself; 0: never. `startWithinMs`: of its policy. A call whose
 * executor died before the start waits so long.
 */
export type WeirProcessOptions = {
  file: string
  url: string
  startsFile: string
  messages: { conversation: string; messageId: string }[]
  dieAt: number
  startWithinMs?: number
}

const options = JSON.parse(process.argv[2] ?? '') as WeirProcessOptions
const partitions = 2
const tools = (startsFile: string) => [
  recordedTool({ name: 'note', required: ['n'] }, startsFile),
  recordedTool({ name: 'repeatable', required: ['n'], fields: { idempotent: true } }, startsFile),
]
const { startWithinMs = 1_000 } = options
const settings = { policy: { startWithinMs, graceMs: 200 } }
const agent = testAgent(options.url, { settings, tools }, options.startsFile)

const bus = mortal(
  await openEmbeddedBus({ file: options.file, clock: systemClock, synchronous: 'off' }),
  options.dieAt,
)
const running = await startStages({
  bus,
  agents: new Map([[agent.name, agent]]),
  topicPrefix: 'weir.',
  partitions,
  log: pino({ level: 'silent' }),
  dataFolder: dirname(options.file),
})
for (const { conversation, messageId } of options.messages) {
  const message = {
    type: 'user-message' as const,
    conversation,
    messageId,
    text: 'go',
    agent: agent.name,
    settings: agent.settings,
    declarations: agent.tools.map((tool) => tool.declaration),
  }
  await bus.append([
    toRecord({
      topic: 'weir.client-messages',
      partition: partitionOf(conversation, partitions),
      message,
    }),
  ])
}
await Promise.race([
  Promise.all([...new Array(partitions).keys()].map(allFinished)),
  running.failed,
])
await running.close()
await bus.close()

async function allFinished(partition: number): Promise<void> {
  const open = new Set(
    options.messages
      .filter(({ conversation }) => partitionOf(conversation, partitions) === partition)
      .map(({ messageId }) => messageId),
  )
  if (open.size === 0) return
  for await (const records of bus.follow({
    topic: 'weir.activity',
    partition,
    from: 0,
    signal: new AbortController().signal,
  }))
    for (const { value } of records) {
      const activity = decode(value as Uint8Array)
      if (activity.type === 'turn-finished' && open.delete(activity.messageId) && open.size === 0)
        return
    }
}

/**
 * A bus on which this process dies at the given step: before a batch is read, after it was, after
 * it was acknowledged, before and after an append.
 */
function mortal(bus: Bus, dieAt: number): Bus {
  let steps = 0
  const step = () => {
    steps += 1
    if (steps === dieAt) process.kill(process.pid, 'SIGKILL')
  }
  return {
    ...bus,
    async append(records, how) {
      step()
      const appended = await bus.append(records, how)
      step()
      return appended
    },
    subscribe: (subscribe) =>
      bus.subscribe({
        ...subscribe,
        async assign(assignment) {
          const reader = await subscribe.assign(assignment)
          const mortalReader: PartitionReader = {
            position: reader.position,
            async read(records) {
              step()
              const read = await reader.read(records)
              step()
              return read
            },
            acknowledged() {
              step()
              reader.acknowledged()
            },
            close: (how) => reader.close(how),
          }
          return mortalReader
        },
      }),
  }
}
