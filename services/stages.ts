// The stages of the list (reducers.ts) with their side effects, and their start in one process.
// A stage that performs has its performer here. No other stage appears by name.

import type { Logger } from 'pino'
import type { Agents } from '../shared/agents/agents.ts'
import { secretsOf } from '../shared/agents/secrets.ts'
import type { Bus, Subscription } from '../shared/contract/bus.ts'
import { limits } from '../shared/contract/limits.ts'
import type { Message } from '../shared/contract/messages.ts'
import { topicSpecs } from '../shared/contract/retention.ts'
import type { WeightOf } from '../shared/contract/tenant.ts'
import { type StageName, stageNames } from '../shared/contract/topology.ts'
import { type Milliseconds, systemClock } from '../shared/lib/clock.ts'
import { type CountedSlots, createSlots } from '../shared/lib/slots.ts'
import { createBudgetReaders } from '../shared/runtime/budgets/budget-readers.ts'
import type { Instruments } from '../shared/runtime/instruments.ts'
import { type RunOptions, runStage, type StageEntry } from '../shared/runtime/run-stage.ts'
import type { ContextOf } from '../shared/tools/checked-start.ts'
import { prepareSandboxes } from '../shared/tools/sandbox/sandbox-check.ts'
import { toolStarter } from '../shared/tools/start-tool.ts'
import type { StartTool } from '../shared/tools/tool.ts'
import { toolPlaces } from '../shared/tools/tool-slots.ts'
import { echoSource } from './accumulator/echo.ts'
import { createKeptTools, type KeptTools } from './executor/performer/kept/kept-tools.ts'
import { startExecutor } from './executor/performer/performer.ts'
import { startGateway } from './llm-gateway/performer/performer.ts'
import { type Connect, connectOnce } from './llm-gateway/performer/providers/providers.ts'
import { observedBy, type PerformingStage, performs, type Reducers, reducers } from './reducers.ts'

/** The connections to the world: to models and to tools. */
export type World = { connect: Connect; run: StartTool }

const realWorld: World = { connect: connectOnce(), run: toolStarter() }

export type StagesOptions = {
  bus: Bus
  /** Only the stages that perform read them. */
  agents: Agents
  topicPrefix: string
  partitions: number
  /**
   * How long records are kept, and the history of an idle conversation. Undefined: until somebody
   * deletes them.
   */
  retentionMs?: Milliseconds | undefined
  /** How long evidence is kept. Default: the setting `auditDays`. */
  auditMs?: Milliseconds | undefined
  log: Logger
  /** The stages to run. Default: all. */
  names?: readonly StageName[]
  instruments?: Instruments
  /** The contexts of the questions that this process asks. Default: there is none. */
  contextOf?: ContextOf | undefined
  /** Where results of command tools wait if this process dies. Default: they are lost then. */
  dataFolder?: string | undefined
  /**
   * Whether the process that holds command tools starts now. Default: it starts with the first call, because
   * a program may make none.
   */
  holdsTools?: boolean
  /** The weights of tenants that wait for slots. Default: all are equal. */
  weightOf?: WeightOf | undefined
  /** For benches and tests that measure or drive the pipeline without real models and processes. */
  world?: World
}

export type RunningStages = {
  readonly subscriptions: ReadonlyMap<StageName, Subscription>
  /** Rejects with the first stage that cannot go on; never resolves. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

/**
 * `historyIdleMs`: after this time without activity the gateway deletes a history. Undefined: never.
 */
type PerformerParts = World & {
  agents: Agents
  contextOf?: ContextOf | undefined
  historyIdleMs?: Milliseconds | undefined
  kept?: KeptTools | undefined
  weightOf?: WeightOf | undefined
  /** Default: new ones. */
  slots?: StageSlots
}

/** The slots of each stage that performs, shared by all its partitions in this process. */
type StageSlots = Record<PerformingStage, CountedSlots>

function createStageSlots(weightOf?: WeightOf): StageSlots {
  return {
    'llm-gateway': createSlots(limits.modelStreamsMax, { weightOf }),
    executor: toolPlaces(limits.runningToolsMax, weightOf),
  }
}

/** One line for each stage of the list that performs. */
function performersOf({
  agents,
  connect,
  run,
  contextOf,
  historyIdleMs,
  kept,
  weightOf,
  slots = createStageSlots(weightOf),
}: PerformerParts) {
  const streams = slots['llm-gateway']
  const budgets = createBudgetReaders()
  return {
    'llm-gateway': startGateway({
      agents,
      connect,
      echoOf: echoSource,
      historyIdleMs,
      streams,
      weightOf,
      budgets,
    }),
    executor: startExecutor({
      agents,
      run,
      contextOf,
      kept,
      weightOf,
      slots: slots.executor,
      budgets,
    }),
  } satisfies Record<PerformingStage, unknown>
}

type Performers = ReturnType<typeof performersOf>

export type StageEntries = {
  [Name in StageName]: {
    stage: Reducers[Name]
    observed?: AnyEntry['observed']
  } & (Name extends PerformingStage ? { startPerformer: Performers[Name] } : unknown)
}

type AnyEntry = StageEntry<unknown, Message, unknown>

/** Every stage of the list with its side effects, ready for `runEntry`. */
export function stageEntries(parts: PerformerParts): StageEntries {
  const performers = performersOf(parts)
  const entryOf = (name: StageName) => ({
    stage: reducers[name],
    observed: observedBy(name),
    ...(performs(name) && { startPerformer: performers[name] }),
  })
  return Object.fromEntries<unknown>(
    stageNames.map((name) => [name, entryOf(name)]),
  ) as StageEntries
}

/** Runs the stage of that name. The entry's own types matter to its reducer and performer only. */
export function runEntry(
  entries: StageEntries,
  name: StageName,
  options: RunOptions,
): Promise<Subscription> {
  return runStage(entries[name] as AnyEntry, options)
}

/**
 * Runs stages in this process. The embedded bus creates missing topics. If a topic is wrong, no
 * stage starts.
 */
export async function startStages(options: StagesOptions): Promise<RunningStages> {
  const { bus, agents, topicPrefix, partitions, retentionMs, log, names, instruments } = options
  const { contextOf, dataFolder, weightOf } = options
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs, options.auditMs))
  const { world = realWorld } = options
  const runsTools = names === undefined || names.includes('executor')
  if (runsTools) prepareSandboxes(agents, log)
  const kept =
    runsTools && dataFolder !== undefined
      ? createKeptTools({ dataFolder, secrets: secretsOf(agents), log, clock: systemClock })
      : undefined
  const slots = createStageSlots(weightOf)
  if (options.holdsTools === true && hasCommands(agents)) kept?.begin()
  for (const name of (names ?? stageNames).filter(performs)) instruments?.slots?.(name, slots[name])
  const parts = { ...world, agents, contextOf, historyIdleMs: retentionMs, kept, weightOf, slots }
  const entries = stageEntries(parts)
  const subscriptions = new Map<StageName, Subscription>()
  // All at once: on Kafka each one waits for its consumer group.
  const starts = (names ?? stageNames).map(async (name) => {
    subscriptions.set(
      name,
      await runEntry(entries, name, { bus, topicPrefix, partitions, log, instruments }),
    )
  })
  const close = async () => {
    await Promise.all([...subscriptions.values()].map((subscription) => subscription.close()))
    kept?.close()
  }
  for (const start of await Promise.allSettled(starts)) {
    if (start.status === 'fulfilled') continue
    await close().catch(() => {}) // the first error explains more
    throw start.reason
  }
  const failed = Promise.race(
    [...subscriptions.values()].map((subscription) => subscription.failed),
  )
  failed.catch(() => {}) // an unread rejection must not end the process
  return { subscriptions, failed, close }
}

function hasCommands(agents: Agents): boolean {
  return [...agents.values()].some(({ tools }) => tools.some(({ run }) => run.kind === 'command'))
}
