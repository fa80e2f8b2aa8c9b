// One turn of 1,000 rounds, each with one call and a result of 200 KiB, on the embedded bus. Model
// and tool answer at once in this process, so the request itself is not made: it grows with its
// history. Compares the CPU time of a late round with that of an early one. Run alone:
// node test/bench/long-turn.ts. WEIR_BENCH_ROUNDS: another number of rounds.
//
// Not measured: HTTP, the SDK, the request of a round, several conversations at once, and Kafka.

import type { World } from '../../services/stages.ts'
import { replyOf } from '../support/asked-turn.ts'
import { instantAgent, instantAnswer, withInstantStages } from './instant-stages.ts'
import type { Row } from './row.ts'

const rounds = Number(process.env.WEIR_BENCH_ROUNDS ?? 1_000)
const resultBytes = 200 * 1024
/** Rounds whose CPU times are added up: single ones differ by the garbage collector. */
const window = 20

/** `cpu`: the CPU time of the process in seconds at the beginning of each round. */
function world(cpu: number[]): World {
  return {
    connect: () => ({
      stream: () => {
        const { user, system } = process.cpuUsage()
        cpu.push((user + system) / 1e6)
        return instantAnswer(cpu.length > rounds ? undefined : String(cpu.length * 7919))
      },
    }),
    run: (_, { arguments: text }) => ({
      started: Promise.resolve(true),
      ended: Promise.resolve({ status: 'ok', text: resultFor(text), reason: '' }),
      stop: () => {},
    }),
  }
}

function resultFor(text: string): string {
  const line = `At ${text} there is something that no other place has.\n`
  return line.repeat(Math.ceil(resultBytes / line.length)).slice(0, resultBytes)
}

export async function benchLongTurn(): Promise<Row[]> {
  // A full context leaves out the beginning, as such a turn needs.
  const agent = instantAgent(rounds, { history: { summarise: 'drop', keep: { rounds: 10 } } })
  const cpu: number[] = []
  await withInstantStages(agent, world(cpu), async (edge) => {
    const question = { agent, conversation: 'long', messageId: 'm', text: 'look around' }
    const { outcome, reason } = await replyOf(edge, question)
    if (outcome !== 'answered') throw new Error(`the turn ended ${outcome}: ${reason}`)
  })
  return rowsOf(cpu)
}

function rowsOf(cpu: number[]): Row[] {
  const msOf = (from: number): number =>
    (((cpu[from + window] ?? 0) - (cpu[from] ?? 0)) / window) * 1e3
  const early = msOf(10)
  return [
    { name: 'long turn: CPU time of a round, rounds 10 to 30', value: early, unit: 'ms' },
    ...[rounds / 4, rounds / 2, rounds - window].map((from) => ({
      name: `long turn: CPU time of a round, from round ${from}`,
      value: msOf(from),
      unit: 'ms',
      baseline: 'round 10',
      ratio: msOf(from) / early,
    })),
    {
      name: 'long turn: peak memory of the bench',
      value: process.resourceUsage().maxRSS / 1024,
      unit: 'MiB',
    },
  ]
}

if (import.meta.main) console.table(await benchLongTurn())
