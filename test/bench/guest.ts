// The time that a front in blocking mode adds to a guest's round: advice before a request, and the
// verdict on an answer. Then the catch-up of a history that the stages do not know. The stages are in
// this process, without a log. Run alone: node test/bench/guest.ts
//
// Not measured: JSON of requests (a program passes objects), HTTP, guards, a log in a file, and many
// guests at once. kafka-guests.ts has Kafka, proxy.ts has the proxy.

import { openGuard } from '../../client/guard/guard.ts'
import { catchUp, type GuestTimes, playGuest } from './guest-conversation.ts'
import { median } from './kafka-figures.ts'
import type { Row } from './row.ts'

const [short, long] = [10, 500]
const conversations = { short: 20, long: 3 }
const catchUpRounds = 64
const catchUps = 15

export async function benchGuest(): Promise<Row[]> {
  const guard = await openGuard({ agent: 'bench' })
  try {
    for (let n = 0; n < conversations.short; n += 1) await playGuest(guard, `warm-${n}`, 40)
    const played: GuestTimes[] = []
    for (let n = 0; n < conversations.short; n += 1)
      played.push(await playGuest(guard, `short-${n}`, short + 5))
    const grown: GuestTimes[] = []
    for (let n = 0; n < conversations.long; n += 1)
      grown.push(await playGuest(guard, `long-${n}`, long + 10))

    const [one, many]: [number[], number[]] = [[], []]
    for (let n = 0; n < catchUps; n += 1) {
      one.push(await catchUp(guard, `one-${n}`, 1))
      many.push(await catchUp(guard, `many-${n}`, catchUpRounds))
    }
    const before = {
      least: around(played, 'before', 5, 2),
      short: around(played, 'before', short, 3),
      long: around(grown, 'before', long, 9),
    }
    return [
      row(`beforeModel, ${short} rounds of history, p50 (goal <= 3)`, before.short),
      row(`beforeModel, ${long} rounds of history, p50 (goal <= 3 ms, 1.5 x)`, before.long, {
        name: 'history of 5 rounds',
        value: before.least,
      }),
      row(`afterModel, ${short} rounds, p50 (goal <= 2)`, around(played, 'after', short, 3)),
      row(`afterModel, ${long} rounds, p50 (goal <= 2)`, around(grown, 'after', long, 9)),
      row('catch-up of 1 round, p50', median(one)),
      row(`catch-up of ${catchUpRounds} rounds, p50 (goal <= 40 x)`, median(many), {
        name: '1 round',
        value: median(one),
      }),
    ]
  } finally {
    await guard.close()
  }
}

/** The median of the rounds within `distance` of this one. */
function around(
  all: readonly GuestTimes[],
  kind: keyof GuestTimes,
  round: number,
  distance: number,
): number {
  return median(all.flatMap((times) => times[kind].slice(round - distance, round + distance + 1)))
}

function row(name: string, value: number, baseline?: { name: string; value: number }): Row {
  return {
    name: `guest: ${name}`,
    value,
    unit: 'ms',
    ...(baseline !== undefined && { baseline: baseline.name, ratio: value / baseline.value }),
  }
}

if (import.meta.main) console.table(await benchGuest())
