// What clients are told in a run, as it is told, for those that act by it while the run goes on.

import { setTimeout as sleep } from 'node:timers/promises'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'

const retryMs = 500

/**
 * Hands on each line of activity, of all partitions, until `signal` aborts; also through a broker
 * that goes and comes.
 */
export function followActivity(
  {
    bus,
    prefix,
    partitions,
    signal,
  }: { bus: Bus; prefix: string; partitions: number; signal: AbortSignal },
  heard: (message: Message) => void,
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
            if (value !== null) heard(decode(value))
          }
      } catch {
        await sleep(retryMs)
      }
    }
  }
}
