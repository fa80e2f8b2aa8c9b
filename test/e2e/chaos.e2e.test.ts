// A fleet on a real broker under load. Processes are killed, stopped and moved, guards come, change
// and go, and the broker goes away. Records are signed and encrypted, and each job has its own user. The
// faults take a minute, or WEIR_CHAOS_MINUTES. WEIR_CHAOS_SEED repeats a run. Afterwards the independent
// checker reads the topics. `make chaos` has a larger fleet and a larger load, without jest.

import { randomBytes } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { smallLayout } from '../chaos/layouts.ts'
import { runChaos } from '../chaos/run.ts'
import { recordsOf } from '../evidence/evidence.ts'

const minutes = Number(process.env.WEIR_CHAOS_MINUTES ?? 1)
const seed = process.env.WEIR_CHAOS_SEED ?? randomBytes(4).toString('hex')

/** For starting, draining and checking: mostly the time limit of a turn. */
const besidesMs = 15 * 60_000

it(
  'a fleet that is killed, stopped and rebalanced loses nothing and repeats nothing',
  async () => {
    const options = { seed, minutes, clients: 3, partitions: 2, signed: true }
    const lines = [JSON.stringify(options)]
    const { violations, summary, evidence, facts, folder } = await runChaos({
      ...options,
      layout: smallLayout,
      print: (line) => lines.push(line),
    })
    const printed = [
      ...lines,
      summary,
      ...(folder === undefined ? [] : [`its files are in ${folder}`]),
    ].join('\n')
    if (violations.length > 0) throw new Error(printed)
    process.stdout.write(`${printed}\n`)
    expect(recordsOf(evidence, 'turn-finished').length).toBeGreaterThan(10)
    expect(facts.inflicted.filter(({ hit }) => hit).length).toBeGreaterThan(3)
  },
  minutes * 60_000 + besidesMs,
)
