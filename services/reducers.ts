// The reducers of all stages, and nothing that touches the world: what decides, for whoever runs
// decisions again. services/stages.ts has the same stages with their side effects.
// test/apps/replay/imports.unit.test.ts holds this file, and the replay that uses it, to importing
// no performer.

import type { Message } from '../shared/contract/messages.ts'
import type { Stage } from '../shared/contract/stage.ts'
import type { StageName } from '../shared/contract/topology.ts'
import { accumulator } from './accumulator/reducer.ts'
import { approval } from './approval/reducer.ts'
import { conversation } from './conversation/reducer.ts'
import { executor } from './executor/reducer.ts'
import { llmGateway } from './llm-gateway/reducer.ts'
import { loopDetector } from './loop-detector/reducer.ts'
import { validator } from './validator/reducer.ts'

/** A stage of which only records are of interest. */
export type AnyStage = Stage<unknown, Message, unknown>

export const reducers = {
  conversation,
  'llm-gateway': llmGateway,
  accumulator,
  validator,
  'loop-detector': loopDetector,
  executor,
  approval,
} satisfies Record<StageName, AnyStage>
