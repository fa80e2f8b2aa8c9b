// The rounds of one turn as the loop-detector reads them, with defaults for the fields that a test
// does not set.

import { loopDetector } from '../../../services/loop-detector/reducer.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import type {
  Call,
  CallResult,
  Cancel,
  Declaration,
  Denial,
  Intervention,
  InterventionRaised,
  Policy,
  RoundChecked,
  RoundExecuted,
  RoundOutcome,
  Tick,
  TurnEnded,
} from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { callWith, declarationWith, responseWith, resultWith } from '../../support/messages.ts'

export const place = { conversation: 'c', turn: 7 }
export const expiresAt = 1_000_000

export function toolCall(name: string, args: unknown, fields: Partial<Call> = {}): Call {
  const raw = typeof args === 'string' ? args : JSON.stringify(args)
  return callWith({ name, raw, ...fields })
}

export function declared(name: string, fields: Partial<Declaration> = {}): Declaration {
  return declarationWith({ name, timeoutMs: 60_000, ...fields })
}

type Checked = Partial<Omit<RoundChecked, 'response'>> & {
  calls?: Call[]
  response?: Partial<RoundChecked['response']>
}

export function checked(
  round: number,
  { calls = [], response = {}, ...fields }: Checked = {},
): RoundChecked {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const ordered = calls.map((call, ordinal) => ({ ...call, ordinal }))
  return {
    type: 'round-checked',
    ...place,
    round,
    response: responseWith({ calls: ordered, finish: 'tool_use', usage, ...response }),
    failure: null,
    denials: [],
    declarations: [...new Set(ordered.map(({ name }) => name))].map((name) => declared(name)),
    agent: 'agent',
    policy: defaultPolicy,
    callsLeft: 100,
    expiresAt,
    ...fields,
  }
}

export function executed(round: number, results: CallResult[]): RoundExecuted {
  return {
    type: 'round-executed',
    ...place,
    round,
    results: results.map((result, ordinal) => ({ ...result, ordinal })),
    wishes: [],
  }
}

export function ok(text: string): CallResult {
  return resultWith({ text })
}

/** A failure whose short reason is its first line. The executor uses errorLine(). */
export function failing(text: string, status: CallResult['status'] = 'error'): CallResult {
  return resultWith({
    status,
    text,
    reason: text.split('\n')[0] ?? '',
    guard: /^vetoed by guard (\w+): /.exec(text)?.[1] ?? '',
  })
}

export function missing(field: string, ordinal = 0): Denial {
  return {
    ordinal,
    code: 'schema',
    reason: `missing required field '${field}'`,
    text: 'the directive',
    requiredFields: [field],
  }
}

export const turnEnded: TurnEnded = { type: 'turn-ended', ...place }
export const tick: Tick = {
  type: 'tick',
  conversation: place.conversation,
  unit: JSON.stringify([place.conversation, place.turn]),
}

export function cancelled(until = expiresAt): Cancel {
  return { type: 'cancel', ...place, round: 1, expiresAt: until }
}

type Changes = {
  loop?: Partial<Policy['loop']>
  empty?: Partial<Policy['empty']>
  shadowed?: string[]
}

export function policyWith({ loop = {}, empty = {}, shadowed = [] }: Changes): Policy {
  return {
    ...defaultPolicy,
    loop: { ...defaultPolicy.loop, ...loop },
    empty: { ...defaultPolicy.empty, ...empty },
    shadowed,
  }
}

/** One round of a turn: its calls with their results, or a response without calls. */
export type Step = { calls?: [Call, CallResult][]; fields?: Checked }

export function one(name: string, args: unknown, result: CallResult): Step {
  return { calls: [[toolCall(name, args), result]] }
}

export function siblings(...calls: [string, unknown, CallResult][]): Step {
  return { calls: calls.map(([name, args, result]) => [toolCall(name, args), result]) }
}

export function says(text: string): Step {
  return { fields: { response: { text, stop: 'end' } } }
}

export function empty(stop: 'end' | 'length' = 'end', fields: Checked = {}): Step {
  return { fields: { response: { reasoning: '[]', stop }, ...fields } }
}

export function rejectedRound(
  name: string,
  args: unknown,
  field: string,
  fields: Checked = {},
): Step {
  return { fields: { calls: [toolCall(name, args)], denials: [missing(field)], ...fields } }
}

/** Plays the rounds of one turn from round 1 on. Returns the intervention of each. */
export function played(...steps: Step[]): (Intervention | null)[] {
  return outcomes(...steps).map(({ intervention }) => intervention)
}

/** The action of each round: `-` without an intervention, in brackets if it is ordinary. */
export function actions(...steps: Step[]): string[] {
  return played(...steps).map((intervention) =>
    intervention === null
      ? '-'
      : intervention.ordinary
        ? `(${intervention.action})`
        : intervention.action,
  )
}

export function outcomes(...steps: Step[]): RoundOutcome[] {
  return written(...steps).map(({ outcome }) => outcome)
}

/**
 * Plays the rounds. Returns the interventions of rules in shadow for each: `cycle nudge`, in
 * brackets if it is ordinary.
 */
export function raisedInShadow(...steps: Step[]): string[][] {
  return written(...steps).map(({ raised }) =>
    raised.flatMap(({ shadow, intervention: { rule, action, ordinary } }) =>
      shadow ? [ordinary ? `(${rule} ${action})` : `${rule} ${action}`] : [],
    ),
  )
}

/** The records of each judged round. */
function written(...steps: Step[]): { outcome: RoundOutcome; raised: InterventionRaised[] }[] {
  let story = given(loopDetector)
  return steps.map((step, index) => {
    const round = index + 1
    const calls = step.calls?.map(([call]) => call) ?? step.fields?.calls ?? []
    story = story.when(checked(round, { ...step.fields, calls }))
    if (story.to('tools').length > 0)
      story = story.when(executed(round, step.calls?.map(([, result]) => result) ?? []))
    const [outcome] = story.to('conversation')
    if (outcome?.type !== 'round-outcome') throw new Error(`round ${round} has no outcome`)
    return {
      outcome,
      raised: story.to('activity').filter((message) => message.type === 'intervention-raised'),
    }
  })
}

/** The steps with this policy. */
export function judgedBy(policy: Policy, ...steps: Step[]): Step[] {
  return steps.map((step) => ({ ...step, fields: { ...step.fields, policy } }))
}

export function times(count: number, step: Step): Step[] {
  return Array.from({ length: count }, () => step)
}
