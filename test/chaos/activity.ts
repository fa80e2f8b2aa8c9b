// The activity lines of a run, as clients receive them, for parts that react to them during the
// run.

import { setTimeout as sleep } from 'node:timers/promises'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'

const retryMs = 500

/**
 * Passes on each activity line of all partitions until `signal` aborts. Survives broker outages.
 */
export function followActivity(
  {
    bus,
    prefix,
    partitions,
    signal,
  }: { bus: Bus; prefix: string; partitions: number; signal: AbortSignal },
  onMessage: (message: Message) => void,
): void {
  for (let partition = 0; partition < partitions; partition += 1) void follow(partition)

  async function follow(partition: number): Promise<void> {
    let from = 0
    while (!signal.aborted) {
      try {
        for await (const records of bus.follow({
          topic: `${prefix}activity`,
          partition,
          from,
          signal,
        }))
          for (const { value, offset } of records) {
            from = offset + 1
            if (value !== null) onMessage(decode(value))
          }
      } catch {
        await sleep(retryMs)
      }
    }
  }
}
