// The client of one measurement of the agent loop on Kafka, as its own process. Prints its
// measurements.

import { type ClientOptions, openClient } from './kafka-agent-loop-client.ts'
import { optionsOfParent, send, untilParentEnds } from './kafka-child.ts'
import { startMeter, sum } from './kafka-cpu.ts'

/**
 * `conversations`: the measured ones, after `warmUp` more. CPU time counts for the processes of the
 * stages and the broker, and separately for the server.
 */
export type LoopOptions = ClientOptions & {
  conversations: number
  atOnce: number
  warmUp: number
  stagePids: number[]
  brokerPid: number
  serverPid: number
}

/** CPU milliseconds of one conversation. */
export type MeasuredLoop = {
  perCpuSecond: number
  perSecond: number
  clientMs: number
  stagesMs: number
  brokerMs: number
  othersShare: number
}

const options = optionsOfParent<LoopOptions>()
const { conversations, stagePids, brokerPid, serverPid } = options
const client = await openClient(options)
await converseAll('warm', options.warmUp)
const read = startMeter([serverPid, brokerPid, ...stagePids])
await converseAll('measured', conversations)
const { seconds, ownCpuSeconds, cpuSeconds, othersShare } = read()
const [, broker = 0, ...stages] = cpuSeconds
const msEach = (cpu: number) => (cpu * 1e3) / conversations
const measured: MeasuredLoop = {
  perCpuSecond: conversations / (ownCpuSeconds + broker + sum(stages)),
  perSecond: conversations / seconds,
  clientMs: msEach(ownCpuSeconds),
  stagesMs: msEach(sum(stages)),
  brokerMs: msEach(broker),
  othersShare,
}
send(measured)
await untilParentEnds()
await client.close()

async function converseAll(name: string, count: number): Promise<void> {
  const left = Array.from({ length: count }, (_, i) => `${name}-${i}`).values()
  const work = async () => {
    for (const conversation of left)
      if ((await client.converse(conversation)) === '')
        throw new Error(`${conversation} has no answer`)
  }
  await Promise.all(Array.from({ length: options.atOnce }, work))
}
