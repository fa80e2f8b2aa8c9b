// One turn of 1,000 rounds, each with one call and a result of 200 KiB, on the embedded bus. Model
// and tool answer at once in this process, so the request itself is not made: it grows with its
// history. Compares the CPU time of a late round with that of an early one. Run alone:
// node test/bench/long-turn.ts. WEIR_BENCH_ROUNDS: another number of rounds.
//
// Not measured: HTTP, the SDK, the request of a round, several conversations at once, and Kafka.

import { pino } from 'pino'
import { openEdge } from '../../client/edge.ts'
import type { Streamed } from '../../services/llm-gateway/providers/provider.ts'
import { startStages, type World } from '../../services/stages.ts'
import { type Agent, defaultSettings, policyOf } from '../../shared/agents/agents.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { withBenchFolder } from './bench-folder.ts'
import type { Row } from './row.ts'

const rounds = Number(process.env.WEIR_BENCH_ROUNDS ?? 1_000)
const resultBytes = 200 * 1024
/** Rounds whose CPU times are added up: single ones differ by the garbage collector. */
const window = 20

/** A full context leaves out the beginning, as such a turn needs. */
function agent(): Agent {
  const { version: _, ...policy } = defaultSettings.policy
  const most = rounds + 5
  const caps = { ...policy.caps, rounds: most, calls: most, wallMs: 24 * 60 * 60_000 }
  const schema = { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] }
  return {
    name: 'bench',
    system: 'You are measured.',
    model: { provider: 'anthropic', name: 'none', apiKey: 'none', maxOutputTokens: 100 },
    history: { summarise: 'drop', keep: { rounds: 10 } },
    tools: [
      {
        declaration: {
          ...{ name: 'look', description: 'looks', schema: JSON.stringify(schema) },
          ...{ idempotent: false, timeoutMs: 10_000, poll: false, hints: null },
        },
        run: { kind: 'command', argv: ['none'] },
      },
    ],
    settings: { ...defaultSettings, policy: policyOf({ ...policy, caps }) },
  }
}

/** `cpu`: the CPU time of the process in seconds at the beginning of each round. */
function world(cpu: number[]): World {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  async function* stream(): AsyncGenerator<Streamed, void> {
    const { user, system } = process.cpuUsage()
    cpu.push((user + system) / 1e6)
    const [round, none] = [cpu.length, { id: null, name: null }]
    if (round > rounds) {
      yield { kind: 'events', events: [{ kind: 'text', index: 0, ...none, text: 'Done.' }] }
      yield { kind: 'finished', stop: 'end', finish: 'end_turn', usage }
      return
    }
    const text = JSON.stringify({ n: `place ${round * 7919}` })
    yield {
      kind: 'events',
      events: [
        { kind: 'call_start', index: 0, id: `toolu_${round}`, name: 'look', text: '' },
        { kind: 'call_arguments', index: 0, ...none, text },
        { kind: 'call_end', index: 0, ...none, text: '' },
      ],
    }
    yield { kind: 'finished', stop: 'calls', finish: 'tool_use', usage }
  }
  return {
    connect: () => ({ stream }),
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

export function benchLongTurn(): Promise<Row[]> {
  return withBenchFolder(async (folder) => {
    const bus = await openEmbeddedBus({ file: `${folder}/weir.db`, clock: systemClock })
    const bench = agent()
    const cpu: number[] = []
    const [topicPrefix, partitions] = ['', 4]
    const running = await startStages({
      ...{ bus, topicPrefix, partitions },
      agents: new Map([[bench.name, bench]]),
      log: pino({ level: 'error' }),
      world: world(cpu),
    })
    const edge = openEdge({ bus, topicPrefix, partitions })
    try {
      const question = { agent: bench, conversation: 'long', messageId: 'm', text: 'look around' }
      const { outcome, reason } = await Promise.race([edge.reply(question), running.failed])
      if (outcome !== 'answered') throw new Error(`the turn ended ${outcome}: ${reason}`)
    } finally {
      edge.close()
      await running.close()
      await bus.close()
    }
    return rowsOf(cpu)
  })
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
