// The cost of the whole pipeline on the embedded bus, with a model and tools that answer at once in
// this process. It measures bytes written for a round early and late in one conversation, memory
// over many conversations, and conversations per second. Run alone: node --expose-gc
// test/bench/pipeline.ts
//
// Not measured: HTTP, SSE, the SDK and tool processes (agent-loop.ts and executor.ts measure them),
// reads of another process, power-safe commits, and Kafka.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { type Edge, openEdge } from '../../client/edge/edge.ts'
import type { Provider } from '../../services/llm-gateway/performer/providers/providers.ts'
import { startStages, type World } from '../../services/stages.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { defaultSettings, policyOf } from '../../shared/agents/policy/policy.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { HistoryEntry } from '../../shared/contract/messages.ts'
import { topics } from '../../shared/contract/topology.ts'
import { type Clock, systemClock } from '../../shared/lib/clock.ts'
import { replyOf } from '../support/asked-turn.ts'
import { declarationWith } from '../support/messages.ts'
import type { Row } from './row.ts'

const partitions = 4

/** `rounds`: the number of rounds with one call each before the answer. */
function agentWith(rounds: number): Agent {
  const { version: _, ...policy } = defaultSettings.policy
  const schema = JSON.stringify({
    type: 'object',
    properties: { n: { type: 'string' } },
    required: ['n'],
  })
  return {
    name: 'bench',
    system: 'You are measured.',
    model: { provider: 'anthropic', name: 'none', apiKey: 'none', maxOutputTokens: 100 },
    tools: [
      {
        declaration: declarationWith({ name: 'look', description: 'looks', schema }),
        run: { kind: 'command', argv: ['none'] },
      },
    ],
    settings: {
      ...defaultSettings,
      policy: policyOf({
        ...policy,
        caps: { ...policy.caps, rounds: rounds + 5, calls: rounds + 5 },
      }),
    },
  }
}

function worldWith(rounds: number): World {
  return {
    connect: () => ({ stream: (request) => streamOf(request.history, rounds) }),
    run: (_, { arguments: text }) => ({
      started: Promise.resolve(true),
      ended: Promise.resolve({ status: 'ok', text: `looked at ${text}`, reason: '' }),
      stop: () => {},
    }),
  }
}

async function* streamOf(history: HistoryEntry[], rounds: number): ReturnType<Provider['stream']> {
  const round = history.at(-1)?.round ?? 0
  const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 }
  if (round >= rounds) {
    yield {
      kind: 'events',
      events: [{ kind: 'text', index: 0, id: null, name: null, text: 'This is the answer.' }],
    }
    yield { kind: 'finished', stop: 'end', finish: 'end_turn', usage }
    return
  }
  const n = String(round).padStart(12, '0')
  yield {
    kind: 'events',
    events: [{ kind: 'call_start', index: 0, id: `toolu_${n}`, name: 'look', text: '' }],
  }
  for (const text of ['{"n":', `"${n}`, '"}'])
    yield {
      kind: 'events',
      events: [{ kind: 'call_arguments', index: 0, id: null, name: null, text }],
    }
  yield { kind: 'events', events: [{ kind: 'call_end', index: 0, id: null, name: null, text: '' }] }
  yield { kind: 'finished', stop: 'calls', finish: 'tool_use', usage }
}

/** Runs the pipeline on its own file and removes it afterwards. */
export async function withStages<T>(
  rounds: number,
  clock: Clock,
  measure: (weir: { bus: Bus; edge: Edge; agent: Agent }) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock })
  const agent = agentWith(rounds)
  const running = await startStages({
    bus,
    agents: new Map([[agent.name, agent]]),
    topicPrefix: '',
    partitions,
    log: pino({ level: 'error' }),
    world: worldWith(rounds),
  })
  const edge = openEdge({ bus, topicPrefix: '', partitions })
  try {
    return await Promise.race([measure({ bus, edge, agent }), running.failed])
  } finally {
    edge.close()
    await running.close()
    await bus.close()
    rmSync(folder, { recursive: true })
  }
}

export async function converse(edge: Edge, agent: Agent, conversation: string): Promise<void> {
  const { outcome, reason } = await replyOf(edge, {
    agent,
    conversation,
    messageId: 'm',
    text: 'look around',
  })
  if (outcome !== 'answered')
    throw new Error(`the bench's conversation ended ${outcome}: ${reason}`)
}

/** Bytes of all records of one round, over all topics. */
async function bytesPerRound(): Promise<Row[]> {
  const rounds = 200
  const bytes = await withStages(rounds, systemClock, async ({ bus, edge, agent }) => {
    await converse(edge, agent, 'long')
    const sums = new Map<number, number>()
    for (const topic of Object.keys(topics))
      for (const { partition } of await bus.ends(topic))
        for (const { value } of await bus.read({ topic, partition, from: 0, limit: 1_000_000 })) {
          const message = value === null ? undefined : decode(value)
          if (message && 'round' in message)
            sums.set(message.round, (sums.get(message.round) ?? 0) + (value?.length ?? 0))
        }
    return sums
  })
  const [early, late] = [bytes.get(5) ?? 0, bytes.get(rounds) ?? 0]
  return [
    { name: 'pipeline: bytes written for round 5 of a conversation', value: early, unit: 'bytes' },
    {
      name: `pipeline: bytes written for round ${rounds} of it`,
      value: late,
      unit: 'bytes',
      baseline: 'round 5',
      ratio: late / early,
    },
  ]
}

/**
 * A clock that can advance past the idle time of conversations. Memory then holds only states that
 * are really kept.
 */
function skippingClock(): Clock & { skip(ms: number): void } {
  let skipped = 0
  const timers = new Set<{ at: number; fire: () => void; cancel: () => void }>()
  const now = () => Date.now() + skipped
  const after = (delayMs: number, fire: () => void) => {
    const timer = { at: now() + delayMs, fire, cancel: () => {} }
    timer.cancel = systemClock.after(delayMs, () => timers.delete(timer) && fire())
    timers.add(timer)
    return () => {
      timer.cancel()
      timers.delete(timer)
    }
  }
  return {
    now,
    monotonic: () => performance.now() + skipped,
    after,
    skip(ms) {
      skipped += ms
      for (const timer of [...timers])
        if (timer.at <= now()) {
          timer.cancel()
          timers.delete(timer)
          timer.fire()
        }
    },
  }
}

async function memory(): Promise<Row[]> {
  const [conversations, atOnce, rounds] = [10_000, 50, 2]
  const clock = skippingClock()
  const collect = collector()
  return withStages(rounds, clock, async ({ edge, agent }) => {
    const heap: number[] = []
    const began = performance.now()
    const cpu = process.cpuUsage()
    for (let i = 0; i < conversations; i += atOnce) {
      await Promise.all(
        Array.from({ length: atOnce }, (_, k) => converse(edge, agent, `conversation ${i + k}`)),
      )
      if ((i + atOnce) % 1_000 !== 0) continue
      clock.skip(limits.conversationIdleMs + 1)
      await new Promise((resolve) => setTimeout(resolve, 50))
      collect()
      heap.push(process.memoryUsage().heapUsed / 2 ** 20)
    }
    const { user, system } = process.cpuUsage(cpu)
    const [first, last] = [heap[0] ?? 0, heap.at(-1) ?? 0]
    return [
      { name: 'pipeline: heap after 1,000 conversations', value: first, unit: 'MiB' },
      {
        name: `pipeline: heap after ${conversations} conversations`,
        value: last,
        unit: 'MiB',
        baseline: 'after 1,000',
        ratio: last / first,
      },
      {
        name: `pipeline: conversations of ${rounds + 1} rounds, ${atOnce} at once`,
        value: (conversations * 1e3) / (performance.now() - began),
        unit: '/s',
      },
      {
        name: 'pipeline: the same per CPU second',
        value: (conversations * 1e6) / (user + system),
        unit: '/CPU s',
      },
    ]
  })
}

/** The garbage collector on demand, without a flag on the command line. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

export async function benchPipeline(): Promise<Row[]> {
  return [...(await bytesPerRound()), ...(await memory())]
}

if (import.meta.main) console.table(await benchPipeline())
