// The simulator's command line. `--seeds N [--from S] [--workers W]` runs many seeds, `--seed S
// [--verbose]` one. The seed and the commit are the bug report.

import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { addressOf, type Evidence, type Violation } from '../evidence/evidence.ts'
import { describeRecords } from './report.ts'
import { roll, simulate } from './simulation.ts'
import { realSystem } from './system.ts'
import { addTally, emptyTally, printTally, tallyOf } from './tally.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    /** Child processes that share the seeds. */
    workers: { type: 'string', default: `${Math.min(8, availableParallelism())}` },
    verbose: { type: 'boolean', default: false },
  },
})

const workers = Number(values.workers)
if (values.seed !== undefined) process.exitCode = await one(Number(values.seed))
else if (workers > 1)
  process.exitCode = await shared(Number(values.from), Number(values.seeds), workers)
else process.exitCode = await many(Number(values.from), Number(values.seeds))

async function one(seed: number): Promise<number> {
  const rolled = roll(seed)
  console.log(JSON.stringify(rolled))
  const simulated = await simulate(
    realSystem,
    rolled,
    values.verbose ? pino({ level: 'debug', base: undefined }) : undefined,
  )
  const [first] = simulated.violations
  if (values.verbose) console.log(describeRecords(simulated.evidence, undefined))
  for (const { checker, problem } of simulated.violations)
    console.log(`VIOLATED ${checker}: ${problem}`)
  if (first !== undefined && !values.verbose)
    console.log(describeRecords(simulated.evidence, conversationOf(simulated.evidence, first)))
  console.log(printTally(tallyOf(simulated)))
  return first === undefined ? 0 : 1
}

/** Of the record that shows the violation. Undefined: no record shows it, or it has none. */
function conversationOf({ records }: Evidence, { at }: Violation): string | undefined {
  const message = records.find((record) => addressOf(record) === at)?.message
  return message !== undefined && 'conversation' in message ? message.conversation : undefined
}

async function many(from: number, count: number): Promise<number> {
  console.log(`seeds ${from} to ${from + count - 1}`)
  const began = performance.now()
  const sum = emptyTally()
  for (let seed = from; seed < from + count; seed++) {
    let crashed: unknown
    const onCrash = (error: unknown) => {
      crashed = error
    }
    process.once('unhandledRejection', onCrash)
    const simulated = await simulate(realSystem, roll(seed))
    process.off('unhandledRejection', onCrash)
    addTally(sum, tallyOf(simulated))
    if (crashed !== undefined || simulated.violations.length > 0) {
      if (crashed !== undefined) console.log(`seed ${seed}: no handler for`, crashed)
      console.log(`seed ${seed} fails; once more with its records:`)
      await one(seed)
      return 1
    }
    const done = seed - from + 1
    if (done % 100 === 0)
      console.log(
        `${done} seeds, ${(done / ((performance.now() - began) / 1000)).toFixed(1)} a second`,
      )
  }
  console.log(printTally(sum))
  console.log(`seeds ${from} to ${from + count - 1}: no rule was broken`)
  return 0
}

/** Splits the seeds among child processes. The first failure ends them all. */
async function shared(from: number, count: number, shares: number): Promise<number> {
  const size = Math.ceil(count / shares)
  const children = Array.from({ length: Math.ceil(count / size) }, (_, i) =>
    fork(import.meta.filename, [
      '--from',
      `${from + i * size}`,
      '--seeds',
      `${Math.min(size, count - i * size)}`,
      '--workers',
      '1',
    ]),
  )
  const codes = children.map(
    (child) =>
      new Promise<number>((resolve) => {
        child.on('exit', (code) => {
          if (code !== 0) for (const other of children) if (other !== child) other.kill()
          resolve(code ?? 1) // a killed process proves nothing
        })
      }),
  )
  const worst = Math.max(...(await Promise.all(codes)))
  console.log(
    worst === 0
      ? `seeds ${from} to ${from + count - 1}: no rule was broken`
      : 'a rule was broken, or a worker died: see above',
  )
  return worst
}
