// The processes of a fleet, by name, with the stages of each. The process `all-1` also serves guests. The
// checkers know a process by its name. It begins with `all`, or with the stage that a checker looks for.

import { stageNames } from '../evidence/inboxes.ts'

/** `thinkMs`: the pause of a guest before each request, in place of a model. */
export type Layout = { stages: Record<string, string[]>; fronts: string[]; thinkMs: number }

/** Three processes read each stage's inbox, in different combinations of stages. */
export const wideLayout: Layout = {
  stages: {
    'intake-conversation-1': ['intake', 'conversation', 'guest'],
    'intake-conversation-2': ['intake', 'conversation', 'guest'],
    'llm-gateway-1': ['llm-gateway'],
    'llm-gateway-2': ['llm-gateway'],
    'accumulator-validator-1': ['accumulator', 'validator'],
    'accumulator-validator-2': ['accumulator', 'validator'],
    'loop-detector-1': ['loop-detector'],
    'loop-detector-2': ['loop-detector'],
    'executor-1': ['executor'],
    'executor-2': ['executor'],
    'approval-1': ['approval'],
    'approval-2': ['approval'],
    'all-1': stageNames,
  },
  fronts: ['front-1', 'front-2'],
  thinkMs: 0,
}

/** Two processes read each stage's inbox. Guests think, because their sub-agents multiply the requests. */
export const smallLayout: Layout = {
  stages: {
    'llm-gateway-conversation-1': ['intake', 'conversation', 'guest', 'llm-gateway', 'approval'],
    'executor-validator-1': ['accumulator', 'validator', 'loop-detector', 'executor'],
    'all-1': stageNames,
  },
  fronts: ['front-1'],
  thinkMs: 500,
}

/** The process that also serves guests. */
export const withFronts = 'all-1'
