// The list of stages: each one's reducer, how its records are logged, and whether it has a
// performer. The starter of stages, replay, the simulation and the tests read this list.
// It imports no performer (test/apps/replay/imports.unit.test.ts); services/stages.ts adds those.
// To add a stage, write its files, a row in shared/contract/topology.ts and an entry here.

import type { Logger } from 'pino'
import type { Message } from '../shared/contract/messages.ts'
import type { Stage } from '../shared/contract/stage.ts'
import { type StageName, stageNames } from '../shared/contract/topology.ts'
import { logCalls } from './accumulator/log-calls.ts'
import { accumulator } from './accumulator/reducer.ts'
import { approval } from './approval/reducer.ts'
import { conversation } from './conversation/reducer.ts'
import { executor } from './executor/reducer.ts'
import { guest } from './guest/reducer.ts'
import { intake } from './intake/reducer.ts'
import { llmGateway } from './llm-gateway/reducer.ts'
import { loopDetector } from './loop-detector/reducer.ts'
import { logJudgements } from './validator/log-judgements.ts'
import { validator } from './validator/reducer.ts'

/** A stage for callers that need only its records. */
export type AnyStage = Stage<unknown, Message, unknown>

/**
 * `observed`: logs each record that the reducer wrote. `performs`: the stage calls models or tools,
 * so its process needs the agent files, and services/stages.ts has its performer.
 */
type ListedStage = {
  stage: AnyStage
  observed?: (message: Message, log: Logger) => void
  performs?: true
}

const stageList = {
  intake: { stage: intake },
  conversation: { stage: conversation },
  guest: { stage: guest },
  'llm-gateway': { stage: llmGateway, performs: true },
  accumulator: { stage: accumulator, observed: logCalls },
  validator: { stage: validator, observed: logJudgements },
  'loop-detector': { stage: loopDetector },
  executor: { stage: executor, performs: true },
  approval: { stage: approval },
} satisfies Record<StageName, ListedStage>

type StageList = typeof stageList

export type Reducers = { readonly [Name in StageName]: StageList[Name]['stage'] }

export const reducers = Object.fromEntries(
  stageNames.map((name) => [name, stageList[name].stage]),
) as Reducers

/** The stages that have a performer. */
export type PerformingStage = {
  [Name in StageName]: StageList[Name] extends { performs: true } ? Name : never
}[StageName]

export function performs(name: StageName): name is PerformingStage {
  const listed: ListedStage = stageList[name]
  return listed.performs === true
}

export function observedBy(name: StageName): ListedStage['observed'] {
  const listed: ListedStage = stageList[name]
  return listed.observed
}
