// All stages on their own bus, by default the embedded one in a folder, with a scripted model after
// real HTTP and real processes as tools.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../apps/demo/anthropic-server.ts'
import { type Activity, type Edge, openEdge } from '../../client/edge/edge.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { type RunningStages, startStages } from '../../services/stages.ts'
import type { Agent, CommandTool, Tool } from '../../shared/agents/agents.ts'
import { defaultSettings, policyOf } from '../../shared/agents/policy/policy.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus, StoredRecord } from '../../shared/contract/bus.ts'
import type {
  AgentSettings,
  Declaration,
  Message,
  Policy,
  TurnFinished,
} from '../../shared/contract/messages.ts'
import type { TopicName } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { askEdge } from './asked-turn.ts'
import { declarationWith } from './messages.ts'
import { waitMaxMs } from './wait-limit.ts'

export type Turn = { activity: Activity[]; finished: TurnFinished }

export type Pipeline = {
  server: AnthropicServer
  bus: Bus
  edge: Edge
  /** The place of its records. */
  wiring: { bus: Bus; topicPrefix: string; partitions: number }
  agent: Agent
  /** Log lines at debug and above. */
  log: string[]
  /** One message, to the end of its turn. `agent`: with other settings. */
  ask(
    text: string,
    options?: { conversation?: string; messageId?: string; agent?: Agent },
  ): Promise<Turn>
  records(topic: TopicName): Promise<Message[]>
  /** The recorded starts of tools, one line each. */
  starts(): Promise<string[]>
  /** Rejects when a stage stops by an error. */
  failed: Promise<never>
}

export type PipelineOptions = {
  model: (call: ModelCall, number: number) => Reply
  settings?: Partial<Omit<AgentSettings, 'policy'>> & { policy?: Partial<Omit<Policy, 'version'>> }
  /** The agent's tools. A tool that starts writes a line to `startsFile`. */
  tools?: (startsFile: string) => Tool[]
  /** Another bus than the embedded one, with unique names on it. */
  openBus?: (folder: string) => Promise<Bus>
  topicPrefix?: string
}

/** Starts everything, runs the test, and removes everything. */
export async function withPipeline(
  options: PipelineOptions,
  test: (pipeline: Pipeline) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-e2e-'))
  const server = await startAnthropicServer(options.model)
  const {
    openBus = (to) => openEmbeddedBus({ file: join(to, 'weir.db'), clock: systemClock }),
    topicPrefix = 'weir.',
  } = options
  const bus = await openBus(folder)
  const startsFile = join(folder, 'starts')
  const agent = testAgent(server.url, options, startsFile)
  const log: string[] = []
  let running: RunningStages | undefined
  try {
    const wiring = { bus, topicPrefix, partitions: 2 }
    running = await startStages({
      ...wiring,
      agents: new Map([[agent.name, agent]]),
      log: pino({ level: 'debug' }, { write: (line: string) => log.push(line) }),
    })
    const { failed } = running
    const edge = openEdge(wiring)
    await test({
      server,
      bus,
      edge,
      wiring,
      agent,
      log,
      failed,
      async ask(text, { conversation = 'c', messageId = text, agent: asking = agent } = {}) {
        const activity: Activity[] = []
        const turn = askEdge(
          edge,
          { agent: asking, conversation, messageId, text },
          AbortSignal.timeout(waitMaxMs),
        )
        for (;;) {
          const { value, done } = await Promise.race([turn.next(), failed])
          if (done)
            throw new Error(`the turn did not end; activity so far: ${JSON.stringify(activity)}`)
          activity.push(value)
          if (value.type === 'turn-finished' && value.messageId === messageId)
            return { activity, finished: value }
        }
      },
      async records(topic) {
        const records: StoredRecord[] = []
        const name = topicPrefix + topic
        for (const { partition } of await bus.ends(name))
          records.push(...(await bus.read({ topic: name, partition, from: 0, limit: 100_000 })))
        return records.map((record) => decode(record.value as Uint8Array))
      },
      async starts() {
        const text = await readFile(startsFile, 'utf8').catch(() => '')
        return text.split('\n').filter((line) => line !== '')
      },
    })
  } finally {
    await running?.close()
    await bus.close()
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** An agent with default settings, and the changes of a test. */
export function testAgent(
  baseUrl: string,
  { settings = {}, tools }: Pick<PipelineOptions, 'settings' | 'tools'>,
  startsFile: string,
): Agent<'anthropic'> {
  const { policy, ...rest } = settings
  const { version: _, ...defaults } = defaultSettings.policy
  return {
    name: 'test-agent',
    system: 'You are under test.',
    model: {
      provider: 'anthropic',
      name: 'scripted',
      baseUrl,
      apiKey: 'key-that-must-not-show',
      maxOutputTokens: 1_024,
    },
    tools: (tools ?? execTool)(startsFile),
    settings: {
      ...defaultSettings,
      fallback: 'This is the fallback.',
      ...rest,
      policy: policyOf({ ...defaults, ...policy }),
    },
  }
}

/** The same agent with the default time limits. */
export function patient(agent: Agent): Agent {
  const { settings } = agent
  const { version: _, ...policy } = settings.policy
  const { stallMs, policy: usual } = defaultSettings
  const caps = { ...policy.caps, wallMs: usual.caps.wallMs }
  return { ...agent, settings: { ...settings, stallMs, policy: policyOf({ ...policy, caps }) } }
}

/**
 * The tool of incident I1, which also records each start. It requires a command, and answers `ran:
 * <command>`.
 */
export function execTool(startsFile: string): { declaration: Declaration; run: CommandTool }[] {
  return [recordedTool({ name: 'exec', required: ['command'] }, startsFile)]
}

export type RecordedTool = {
  name: string
  required?: string[]
  schema?: object
  fields?: Partial<Declaration>
}

/**
 * A real process that records its start as a line of JSON {name, key, arguments} and then obeys its
 * arguments; see tools/recorded.mjs.
 */
export function recordedTool(
  { name, required = [], schema, fields = {} }: RecordedTool,
  startsFile: string,
): { declaration: Declaration; run: CommandTool } {
  const properties = Object.fromEntries(required.map((field) => [field, { type: 'string' }]))
  return {
    declaration: declarationWith({
      name,
      description: `the tool ${name}`,
      schema: JSON.stringify(schema ?? { type: 'object', properties, required }),
      timeoutMs: 10_000,
      ...fields,
    }),
    run: {
      kind: 'command',
      argv: [
        process.execPath,
        fileURLToPath(new URL('tools/recorded.mjs', import.meta.url)),
        name,
        startsFile,
      ],
    },
  }
}
