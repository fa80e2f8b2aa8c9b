// Waits until the stages and the guards have processed their inboxes: every group's commit is at
// the end of its log and stays there.

import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Kafka } from 'kafkajs'
import { readCommits } from './topics.ts'

/**
 * False: some group had still records to process after `withinMs`. The groups are read one after
 * another, so a group that is read late can write to the inbox of a group that was read early. Only
 * two equal readings show that none wrote between.
 */
export async function waitUntilSettled(
  place: { kafka: Kafka; prefix: string; guards: string[] },
  withinMs: number,
): Promise<boolean> {
  const deadline = Date.now() + withinMs
  let before: Awaited<ReturnType<typeof readCommits>> | undefined
  while (Date.now() < deadline) {
    const committed = await readCommits(place)
    const isAtEnd = committed.every(
      ({ offset, begin, end }) => offset === end || (offset === -1 && begin === end),
    )
    if (isAtEnd && isDeepStrictEqual(committed, before)) return true
    before = committed
    await sleep(1_000)
  }
  return false
}
