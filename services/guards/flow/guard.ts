// The flow guard: keeps private data, untrusted texts and a way out from meeting in a conversation.
// A text of others may hold instructions, private data may then leak by any tool that sends.
// Owns: the labels that a conversation has met.
// Does not own: the labels of a tool (agent file, defineTool, the configuration of an MCP server).
//
// A call is stopped if with it all three labels have met, and it sends or brings a
// label that no call brought. A later read of a known kind adds nothing, and passes.
// A passed call counts, even if another guard stops it, and so does one that this guard
// rejects as a shadow. The fold can only know too much.
// A call that waits for a person may have run. So it counts for later calls that send,
// and the same call waits again.
// Of its conversation only calls of earlier rounds and earlier calls of the round count.
// So a repeated round gets the same verdicts. Of callers and called agents, all known calls count.

import type {
  Guard,
  GuardedCall,
  GuardedRound,
  Verdict,
} from '../../../shared/contract/guard/guard.ts'
import { type RoundId, roundIdOf } from '../../../shared/contract/ids.ts'
import { type FlowGuardOptions, type FlowLabel, type FlowRules, flowRules } from './options.ts'

/** For each label, the first call that brought it. */
type Met = Partial<Record<FlowLabel, RoundId & { tool: string }>>

/** `requested`: by calls that wait for a person. */
export type FlowState = { met: Met; requested: Met }

const descriptions: Record<FlowLabel, string> = {
  'reads:private': 'private data was read',
  'reads:untrusted': 'an untrusted text was read',
  'sends:out': 'data was sent out',
}
const allLabels = Object.keys(descriptions) as FlowLabel[]

/** Throws a WeirError (settings.invalid) for unusable options. */
export default function flowGuard(options: FlowGuardOptions = {}): Guard<FlowState> {
  const rules = flowRules(options)
  return {
    name: options.name ?? 'flow',
    version: '1',
    tools: rules.tools,
    deadlineMs: options.deadlineMs ?? 1_000,
    onTimeout: 'deny',
    stateKeptMs: rules.rememberedMs,
    judge: (state, round) => judge(state, round, rules),
  }
}

function judge(
  state: FlowState = { met: {}, requested: {} },
  round: GuardedRound,
  rules: FlowRules,
): { state: FlowState | undefined; verdicts: Verdict[] } {
  let met = earlierThan(state.met, round)
  let requested = earlierThan(state.requested, round)
  const verdicts = round.calls.map((call): Verdict => {
    const labels = rules.labelsOf(call)
    const verdict = verdictOn(call, labels, { met, requested }, rules)
    const place = { tool: call.name, ...roundIdOf(round) }
    const brought = Object.fromEntries(labels.map((label) => [label, place]))
    if (verdict.verdict === 'allow' || !call.enforced) met = { ...brought, ...met }
    else if (verdict.verdict === 'ask') requested = { ...brought, ...requested }
    return verdict
  })
  const after = { met: { ...met, ...state.met }, requested: { ...requested, ...state.requested } }
  const isEmpty = Object.values(after).every((some) => Object.keys(some).length === 0)
  return { state: isEmpty ? undefined : after, verdicts }
}

function earlierThan(met: Met, { conversation, turn, round }: GuardedRound): Met {
  return Object.fromEntries(
    Object.entries(met).filter(
      ([, place]) =>
        place.conversation !== conversation ||
        place.turn < turn ||
        (place.turn === turn && place.round < round),
    ),
  )
}

function verdictOn(
  { ordinal, name }: GuardedCall,
  labels: readonly FlowLabel[],
  { met, requested }: FlowState,
  { onMeeting }: FlowRules,
): Verdict {
  const hasAll = allLabels.every(
    (label) => label in met || label in requested || labels.includes(label),
  )
  const adds = labels.some((label) => label === 'sends:out' || !(label in met))
  if (!hasAll || !adds) return { ordinal, verdict: 'allow' }
  const before = allLabels.flatMap((label) => {
    const place = met[label] ?? requested[label]
    return place === undefined ? [] : [`${descriptions[label]} (${place.tool})`]
  })
  const what = labels.includes('sends:out') ? 'send data out' : 'read it'
  const since = before.length === 0 ? '' : `In this conversation ${before.join(', ')}. `
  const text = `${since}${name} would now ${what}: private data could leak by instructions in a text of others.`
  const advice = 'Go on without this call, or tell the user.'
  const code = 'flow.meeting'
  const evidence = `${name} brings ${labels.join(', ')}${before.length === 0 ? '' : ` after ${before.join(', ')}`}`
  return onMeeting === 'ask'
    ? { ordinal, verdict: 'ask', code, text, evidence }
    : { ordinal, verdict: 'deny', code, text: `${text} ${advice}`, evidence }
}
