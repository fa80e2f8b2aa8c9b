// All stages on an embedded bus in a file, with a model and a tool inside this process, for benches
// that measure neither HTTP nor programs.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Edge, openEdge } from '../../client/edge/edge.ts'
import { startStages, type World } from '../../services/stages.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { defaultSettings, policyOf } from '../../shared/agents/policy/policy.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import type { Streamed } from '../../shared/wire/exchange.ts'
import { declarationWith } from '../support/messages.ts'

/** An agent with one tool, for turns of so many rounds and a day. */
export function instantAgent(rounds: number, parts: Partial<Agent> = {}): Agent {
  const { version: _, ...policy } = defaultSettings.policy
  const most = rounds + 5
  const caps = { ...policy.caps, rounds: most, calls: most, wallMs: 24 * 60 * 60_000 }
  const schema = { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] }
  return {
    name: 'bench',
    system: 'You are measured.',
    model: { provider: 'anthropic', name: 'none', apiKey: 'none', maxOutputTokens: 100 },
    tools: [
      {
        declaration: declarationWith({
          name: 'look',
          description: 'looks',
          schema: JSON.stringify(schema),
          timeoutMs: 600_000,
        }),
        run: { kind: 'command', argv: ['none'] },
      },
    ],
    settings: { ...defaultSettings, policy: policyOf({ ...policy, caps }) },
    ...parts,
  }
}

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
const none = { id: null, name: null }

/** A model's answer: a call of the tool, or the last words of the turn. */
export async function* instantAnswer(call: string | undefined): AsyncGenerator<Streamed, void> {
  if (call === undefined) {
    yield { kind: 'events', events: [{ kind: 'text', index: 0, ...none, text: 'Done.' }] }
    yield { kind: 'finished', stop: 'end', finish: 'end_turn', usage }
    return
  }
  yield {
    kind: 'events',
    events: [
      { kind: 'call_start', index: 0, id: `toolu_${call}`, name: 'look', text: '' },
      { kind: 'call_arguments', index: 0, ...none, text: JSON.stringify({ n: `place ${call}` }) },
      { kind: 'call_end', index: 0, ...none, text: '' },
    ],
  }
  yield { kind: 'finished', stop: 'calls', finish: 'tool_use', usage }
}

/** Removes the file afterwards. */
export async function withInstantStages<T>(
  agent: Agent,
  world: World,
  use: (edge: Edge) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
  const [topicPrefix, partitions] = ['', 4]
  const running = await startStages({
    bus,
    topicPrefix,
    partitions,
    world,
    agents: new Map([[agent.name, agent]]),
    log: pino({ level: 'error' }),
  })
  const edge = openEdge({ bus, topicPrefix, partitions })
  try {
    return await Promise.race([use(edge), running.failed])
  } finally {
    edge.close()
    await running.close()
    await bus.close()
    rmSync(folder, { recursive: true })
  }
}
