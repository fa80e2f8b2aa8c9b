// All six stages with their side effects: the one place that sees them all. Starting a stage elsewhere (one service, one stage) takes its entry
// from here; adding one is its files, a row in shared/topology.ts, and its entry here.

import type { Logger } from 'pino'
import type { Agent, Agents } from '../shared/agents.ts'
import type { Bus, Subscription } from '../shared/bus/port.ts'
import type { RunOptions } from '../shared/runtime/run-stage.ts'
import { runStage } from '../shared/runtime/run-stage.ts'
import type { StageName } from '../shared/topology.ts'
import { topicSpecs } from '../shared/topology.ts'
import { logCalls } from './accumulator/log-calls.ts'
import { accumulator } from './accumulator/reducer.ts'
import { conversation } from './conversation/reducer.ts'
import { startExecutor } from './executor/performer.ts'
import { executor } from './executor/reducer.ts'
import { toolStarter } from './executor/start-tool.ts'
import type { StartTool } from './executor/tool.ts'
import { startGateway } from './llm-gateway/performer.ts'
import type { Provider } from './llm-gateway/provider.ts'
import { providers } from './llm-gateway/providers.ts'
import { llmGateway } from './llm-gateway/reducer.ts'
import { loopDetector } from './loop-detector/reducer.ts'
import { logJudgements } from './validator/log-judgements.ts'
import { validator } from './validator/reducer.ts'

/** Where the pipeline touches the world: how a model is asked and how a tool is started. */
export type World = { connect: (agent: Agent) => Provider; run: StartTool }

const realWorld: World = { connect: providers(), run: toolStarter() }

/** `world`: for benches and tests that measure or drive the pipeline without real models and processes. */
export type StagesOptions = { bus: Bus; agents: Agents; topicPrefix: string; partitions: number; log: Logger; world?: World }

export type RunningStages = {
  /** Rejects with the first stage that cannot go on; never resolves. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

/** How to run each stage with these agents. */
export function stageStarters(
  agents: Agents,
  { connect, run }: World = realWorld,
): Record<StageName, (options: RunOptions) => Promise<Subscription>> {
  return {
    conversation: (options) => runStage({ stage: conversation }, options),
    'llm-gateway': (options) => runStage({ stage: llmGateway, startPerformer: startGateway({ agents, connect }) }, options),
    accumulator: (options) => runStage({ stage: accumulator, observed: logCalls }, options),
    validator: (options) => runStage({ stage: validator, observed: logJudgements }, options),
    'loop-detector': (options) => runStage({ stage: loopDetector }, options),
    executor: (options) => runStage({ stage: executor, startPerformer: startExecutor({ agents, run }) }, options),
  }
}

/** Creates the topics that are missing and runs all six stages in this process. */
export async function startStages({ bus, agents, topicPrefix, partitions, log, world }: StagesOptions): Promise<RunningStages> {
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions))
  const subscriptions: Subscription[] = []
  const close = async () => {
    await Promise.all(subscriptions.map((subscription) => subscription.close()))
  }
  try {
    for (const start of Object.values(stageStarters(agents, world))) subscriptions.push(await start({ bus, topicPrefix, log }))
  } catch (error) {
    await close()
    throw error
  }
  const failed = Promise.race(subscriptions.map((subscription) => subscription.failed))
  failed.catch(() => {}) // whoever does not ask is not brought down by the answer
  return { failed, close }
}
