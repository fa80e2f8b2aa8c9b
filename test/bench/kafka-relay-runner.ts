// One relay as its own process: the validator, a guard or the raw one. Prints `ready` when it is a
// member of its group. If it counts records, it then prints the measurements of `records` records,
// after `warmUp` ones.

import { optionsOfParent, send, untilParentEnds } from './kafka-child.ts'
import { startMeter } from './kafka-cpu.ts'
import type { OpenRelay, RelayKind, RelayOptions } from './relay-options.ts'

/** `brokerCpuUs`: NaN if the broker's process is not known. */
export type MeasuredRelay = {
  perSecond: number
  cpuUs: number
  brokerCpuUs: number
  perBatch: number
  othersShare: number
}

const options = optionsOfParent<RelayOptions>()
const { kind, count } = options
const { promise: measured, resolve } = Promise.withResolvers<MeasuredRelay>()
const relay = await (await openerOf(kind))(
  options,
  count === undefined ? () => {} : createCounter(count),
)
send('ready')
if (count !== undefined) send(await Promise.race([measured, relay.failed]))
await Promise.race([untilParentEnds(), relay.failed])
await relay.close()

/** Loads no other: a raw relay must not pay for Weir's modules. */
async function openerOf(kind: RelayKind): Promise<OpenRelay> {
  switch (kind) {
    case 'kafkajs':
      return (await import('./kafka-relay-kafkajs.ts')).openKafkajs
    case 'validator':
    case 'signed':
      return (await import('./kafka-relay-validator.ts')).openValidator
    case 'guard':
      return (await import('./kafka-relay-guard.ts')).openGuard
  }
}

function createCounter({
  warmUp,
  records,
  brokerPid,
}: NonNullable<RelayOptions['count']>): (records: number) => void {
  const pids = brokerPid === undefined ? [] : [brokerPid]
  let [total, counted, batches] = [0, 0, 0]
  let read: ReturnType<typeof startMeter> | undefined
  let isOver = false
  return (taken) => {
    total += taken
    if (isOver || total < warmUp) return
    if (read === undefined) {
      read = startMeter(pids)
      return
    }
    counted += taken
    batches += 1
    if (counted < records) return
    isOver = true
    const { seconds, ownCpuSeconds, cpuSeconds, othersShare } = read()
    const us = (cpu: number | undefined) => ((cpu ?? Number.NaN) * 1e6) / counted
    resolve({
      perSecond: counted / seconds,
      cpuUs: us(ownCpuSeconds),
      brokerCpuUs: us(cpuSeconds[0]),
      perBatch: counted / batches,
      othersShare,
    })
  }
}
