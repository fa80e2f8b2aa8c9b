// A fleet on a real broker, under load, with processes that are killed, stopped and moved, guards
// that come, change and go, and a broker that goes away: two minutes of it, or as many as
// WEIR_CHAOS_MINUTES says; WEIR_CHAOS_SEED plays one again. Afterwards the independent checker
// reads the topics. `make chaos` is the same without jest.

import { randomBytes } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { recordsOf } from '../chaos/evidence.ts'
import { runChaos } from '../chaos/run.ts'

const minutes = Number(process.env.WEIR_CHAOS_MINUTES ?? 2)
const seed = process.env.WEIR_CHAOS_SEED ?? randomBytes(4).toString('hex')

/** Starting, draining, checking: most of it is the time that a turn may take. */
const besidesMs = 15 * 60_000

it(
  'a fleet that is killed, stopped and rebalanced loses nothing and does nothing twice',
  async () => {
    const options = { seed, minutes, clients: 10, partitions: 4 }
    const lines = [JSON.stringify(options)]
    const { violations, summary, evidence, facts, folder } = await runChaos({
      ...options,
      print: (line) => lines.push(line),
    })
    const told = [
      ...lines,
      summary,
      ...(folder === undefined ? [] : [`what is left of it is in ${folder}`]),
    ].join('\n')
    if (violations.length > 0) throw new Error(told)
    process.stdout.write(`${told}\n`)
    expect(recordsOf(evidence, 'turn-finished').length).toBeGreaterThan(10)
    expect(facts.inflicted.filter(({ hit }) => hit).length).toBeGreaterThan(3)
  },
  minutes * 60_000 + besidesMs,
)
