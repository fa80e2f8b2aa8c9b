// Waits until the stages and the guards have processed their inboxes: every group's commit is at
// the end of its log and stays there.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import { readCommits } from './topics.ts'

/** False: some group was still behind after `withinMs`. */
export async function waitUntilSettled(
  place: { kafka: Kafka; prefix: string; guards: string[] },
  withinMs: number,
): Promise<boolean> {
  const deadline = Date.now() + withinMs
  while (Date.now() < deadline) {
    const committed = await readCommits(place)
    if (
      committed.every(
        ({ offset, begin, end }) => offset === end || (offset === -1 && begin === end),
      )
    )
      return true
    await sleep(1_000)
  }
  return false
}
