// The system under test: the real stages with their real performers, on fakes of the model, the
// tools and the bus. A canary is another System: the same with one part broken (broken/).

import { logCalls } from '../../services/accumulator/log-calls.ts'
import { accumulator } from '../../services/accumulator/reducer.ts'
import { approval } from '../../services/approval/reducer.ts'
import { conversation } from '../../services/conversation/reducer.ts'
import { startExecutor } from '../../services/executor/performer.ts'
import { executor } from '../../services/executor/reducer.ts'
import type { StartTool } from '../../services/executor/tools/tool.ts'
import { startGateway } from '../../services/llm-gateway/performer.ts'
import type { Provider } from '../../services/llm-gateway/providers/provider.ts'
import { llmGateway } from '../../services/llm-gateway/reducer.ts'
import { loopDetector } from '../../services/loop-detector/reducer.ts'
import { validator } from '../../services/validator/reducer.ts'
import type { Agents } from '../../shared/agents/agents.ts'
import type { Bus, Subscription } from '../../shared/contract/bus.ts'
import { type RunOptions, runStage } from '../../shared/runtime/run-stage.ts'

/** `place`: where the process runs, the same for those that follow it there. */
export type Parts = { place: string; agents: Agents; connect: () => Provider; run: StartTool }

export type Entries = ReturnType<typeof realEntries>

export type System = {
  name: string
  entries(parts: Parts): Entries
  /** The bus of one process. */
  bus(bus: Bus): Bus
}

export function realEntries({ agents, connect, run }: Parts) {
  return {
    conversation: { stage: conversation },
    'llm-gateway': { stage: llmGateway, startPerformer: startGateway({ agents, connect }) },
    accumulator: { stage: accumulator, observed: logCalls },
    validator: { stage: validator },
    'loop-detector': { stage: loopDetector },
    executor: { stage: executor, startPerformer: startExecutor({ agents, run }) },
    approval: { stage: approval },
  }
}

export const realSystem: System = {
  name: 'real',
  entries: realEntries,
  bus: (bus) => bus,
}

/** Runs all stages in one process. */
export function runEntries(entries: Entries, options: RunOptions): Promise<Subscription[]> {
  return Promise.all([
    runStage(entries.conversation, options),
    runStage(entries['llm-gateway'], options),
    runStage(entries.accumulator, options),
    runStage(entries.validator, options),
    runStage(entries['loop-detector'], options),
    runStage(entries.executor, options),
    runStage(entries.approval, options),
  ])
}
