// One life of the restarted consumer, as its own process: the accumulator, or a plain consumer.
// Prints its measurements after the last record.

import { pino } from 'pino'
import { accumulator } from '../../services/accumulator/reducer.ts'
import { runStage } from '../../shared/runtime/run-stage.ts'
import { optionsOfParent, send, untilParentEnds } from './kafka-child.ts'
import { counted } from './kafka-counted-bus.ts'
import { startMeter } from './kafka-cpu.ts'
import { openBus, openKafka, partitions } from './kafka-topics.ts'

/** `records`: in the topic. */
export type RestartOptions = {
  kind: 'accumulator' | 'consumer'
  bootstrapServers: string
  topicPrefix: string
  records: number
}

/** `sinceStart`: seconds of the process until the same moment. */
export type MeasuredRestart = {
  seconds: number
  cpuSeconds: number
  sinceStart: number
  othersShare: number
}

const { kind, bootstrapServers, topicPrefix, records } = optionsOfParent<RestartOptions>()
const { promise: measured, resolve } = Promise.withResolvers<MeasuredRestart>()
let read: ReturnType<typeof startMeter> | undefined
let applied = 0
const close = await (kind === 'accumulator' ? runAccumulator() : runConsumer())
send(await measured)
await untilParentEnds()
await close()

function assigned(): void {
  read ??= startMeter([])
}

function onApplied(count: number): void {
  applied += count
  if (applied < records || read === undefined) return
  const { seconds, ownCpuSeconds, othersShare } = read()
  resolve({ seconds, cpuSeconds: ownCpuSeconds, sinceStart: performance.now() / 1e3, othersShare })
}

async function runAccumulator(): Promise<() => Promise<void>> {
  // Only a line of the bus's log shows the group's answer. The readers start two requests later.
  const log = pino(
    { level: 'info' },
    { write: (line: string) => (line.includes('joined the group') ? assigned() : undefined) },
  )
  const bus = await openBus(bootstrapServers, log)
  const subscription = await runStage(
    { stage: accumulator },
    { bus: counted(bus, onApplied), topicPrefix, log },
  )
  return async () => {
    await subscription.close()
    await bus.close()
  }
}

/** A separate group for each life: it reads from the log's begin. */
async function runConsumer(): Promise<() => Promise<void>> {
  const consumer = openKafka(bootstrapServers).consumer({
    groupId: `${topicPrefix}plain-${process.pid}`,
    maxWaitTimeInMs: 500,
  })
  consumer.on(consumer.events.GROUP_JOIN, assigned)
  await consumer.connect()
  await consumer.subscribe({ topics: [`${topicPrefix}model-deltas`], fromBeginning: true })
  await consumer.run({
    partitionsConsumedConcurrently: partitions,
    eachBatch: async ({ batch }) => onApplied(batch.messages.length),
  })
  return () => consumer.disconnect()
}
