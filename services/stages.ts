// All stages with their side effects: the one place that sees them all. Starting a stage elsewhere
// (one service, one stage) takes its entry from here; adding one is its files, a row in
// shared/contract/topology.ts, and its entry here.

import type { Logger } from 'pino'
import type { Agents } from '../shared/agents/agents.ts'
import type { Bus, Subscription } from '../shared/contract/bus.ts'
import { type StageName, stageNames, topicSpecs } from '../shared/contract/topology.ts'
import type { Milliseconds } from '../shared/lib/clock.ts'
import type { Instruments } from '../shared/runtime/instruments.ts'
import { type RunOptions, runStage } from '../shared/runtime/run-stage.ts'
import { logCalls } from './accumulator/log-calls.ts'
import { accumulator } from './accumulator/reducer.ts'
import { approval } from './approval/reducer.ts'
import { conversation } from './conversation/reducer.ts'
import { startExecutor } from './executor/performer.ts'
import { executor } from './executor/reducer.ts'
import { toolStarter } from './executor/tools/start-tool.ts'
import type { StartTool } from './executor/tools/tool.ts'
import { startGateway } from './llm-gateway/performer.ts'
import type { Connect } from './llm-gateway/providers/provider.ts'
import { connectOnce } from './llm-gateway/providers/providers.ts'
import { llmGateway } from './llm-gateway/reducer.ts'
import { loopDetector } from './loop-detector/reducer.ts'
import { logJudgements } from './validator/log-judgements.ts'
import { validator } from './validator/reducer.ts'

/** Where the pipeline touches the world: how a model is asked and how a tool is started. */
export type World = { connect: Connect; run: StartTool }

const realWorld: World = { connect: connectOnce(), run: toolStarter() }

export type StagesOptions = {
  bus: Bus
  /**
   * Those that ask models and run tools; of the stages only llm-gateway and executor look at them.
   */
  agents: Agents
  topicPrefix: string
  partitions: number
  /**
   * How long records are kept, and the history of a conversation in which nothing happens; default:
   * the setting `retention`'s.
   */
  retentionMs?: Milliseconds | undefined
  log: Logger
  /** Which ones; default: all. */
  names?: readonly StageName[]
  instruments?: Instruments
  /** For benches and tests that measure or drive the pipeline without real models and processes. */
  world?: World
}

export type RunningStages = {
  readonly subscriptions: ReadonlyMap<StageName, Subscription>
  /** Rejects with the first stage that cannot go on; never resolves. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

/** How to run each stage with these agents. */
export function stageStarters(
  agents: Agents,
  { connect, run }: World = realWorld,
  historyIdleMs?: Milliseconds,
): Record<StageName, (options: RunOptions) => Promise<Subscription>> {
  return {
    conversation: (options) => runStage({ stage: conversation }, options),
    'llm-gateway': (options) =>
      runStage(
        { stage: llmGateway, startPerformer: startGateway({ agents, connect, historyIdleMs }) },
        options,
      ),
    accumulator: (options) => runStage({ stage: accumulator, observed: logCalls }, options),
    validator: (options) => runStage({ stage: validator, observed: logJudgements }, options),
    'loop-detector': (options) => runStage({ stage: loopDetector }, options),
    executor: (options) =>
      runStage({ stage: executor, startPerformer: startExecutor({ agents, run }) }, options),
    approval: (options) => runStage({ stage: approval }, options),
  }
}

/**
 * Runs stages in this process. The bus makes sure of the topics: the embedded one creates what is
 * missing, and where one is not as it must be, nothing starts.
 */
export async function startStages(options: StagesOptions): Promise<RunningStages> {
  const { bus, agents, topicPrefix, partitions, retentionMs, log, names, instruments, world } =
    options
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs))
  const starters = stageStarters(agents, world, retentionMs)
  const subscriptions = new Map<StageName, Subscription>()
  // All at once: on Kafka each waits for its group to come together.
  const starts = (names ?? stageNames).map(async (name) => {
    subscriptions.set(
      name,
      await starters[name]({ bus, topicPrefix, partitions, log, instruments }),
    )
  })
  const close = async () => {
    await Promise.all([...subscriptions.values()].map((subscription) => subscription.close()))
  }
  for (const start of await Promise.allSettled(starts)) {
    if (start.status === 'fulfilled') continue
    await close().catch(() => {}) // what came first tells more
    throw start.reason
  }
  const failed = Promise.race(
    [...subscriptions.values()].map((subscription) => subscription.failed),
  )
  failed.catch(() => {}) // whoever does not ask is not brought down by the answer
  return { subscriptions, failed, close }
}
