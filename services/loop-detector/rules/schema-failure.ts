// Calls of one tool keep breaking its schema (I5.2). From the threshold on the denial has a
// sharper text. If the policy sets it, the turn ends, for a caller that routes it elsewhere instead
// of a retry. Calls that break the schema in ever new ways are a loop too.
//
// Rounds are counted for each tool. A call that ran ends the count, with any
// result. A veto does not, and neither do other tools.
// The text is chosen before the round runs, the count changes after it. Both use
// the same number: a round is judged before the next is checked.
// The intervention has a separate count, which a new change restarts: the agent
// works on. It climbs past its message only where an error occurs again.

import { limits } from '../../../shared/contract/limits.ts'
import type {
  Call,
  Denial,
  DenialCode,
  LoopThresholds,
  Policy,
} from '../../../shared/contract/messages.ts'
import { remember, touch } from '../../../shared/lib/recency.ts'
import { schemaBreaker, schemaFailures } from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { toolOf } from '../evidence/evidence.ts'
import { addMatch, climb, emptyStreak, found, type Streak, weightiest } from '../ladder.ts'
import { schemaRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

type SchemaStreak = Streak & {
  rounds: number
  /** Its whole errors, and whether the newest round brought one of them again. */
  errors: Set<number>
  recurs: boolean
}

/** By tool (toolOf): the rounds in a row with a schema failure, and the ones since a change. */
type Memory = { rounds: Map<string, number>; streaks: Map<string, SchemaStreak> }

export const schemaFailure: Rule<Memory> = {
  name: 'schema-failure',
  version: 2,
  kind: 'tool_loop',
  thresholds: ['loop.schemaFailures', 'loop.schemaFailureEndsTurn'],
  description: 'A tool keeps being called against its schema.',
  firesWhen:
    'calls of a tool break its schema in 3 rounds in a row: the denial gets a sharper text, and a setting ends the turn. The 6th time: an intervention',
  endedBy: 'a call of the tool that ran',
  sentence: 'kept calling a tool with unusable arguments',
  initial: () => ({ rounds: new Map(), streaks: new Map() }),

  judge({ rounds, streaks }, { round, calls, denials, news }, { loop }) {
    if (denials.length === 0 && rounds.size === 0) return undefined // nearly always
    if (news.change) streaks.clear()
    const broke = new Set(
      denials.filter(({ code }) => isSchemaFailure(code)).map(({ ordinal }) => ordinal),
    )
    const failing = calls.filter(
      ({ ref, failure }) => broke.has(ref.ordinal) && failure?.kind !== 'transient',
    )
    const tools = [...new Set(failing.map(({ tool }) => tool))]
    for (const tool of tools)
      touch(rounds, tool, (rounds.get(tool) ?? 0) + 1, limits.loopStreaksMax)
    for (const call of failing) count(streaks, call, round)
    for (const { ran, tool } of calls) {
      if (!ran) continue
      rounds.delete(tool)
      streaks.delete(tool)
    }

    const ending = loop.schemaFailureEndsTurn
      ? tools.find((tool) => (rounds.get(tool) ?? 0) >= loop.schemaFailures)
      : undefined
    if (ending !== undefined) return end(ending, rounds.get(ending) ?? 0, failing)
    return weightiest(tools.flatMap((tool) => intervene(tool, streaks.get(tool), loop)))
  },
}

/** A round counts once, with all its errors. */
function count(streaks: Map<string, SchemaStreak>, call: CallEvidence, round: number): void {
  const streak = streaks.get(call.tool) ?? {
    ...emptyStreak(),
    rounds: 0,
    errors: new Set<number>(),
    recurs: false,
  }
  if (streak.round !== round) {
    streak.rounds += 1
    streak.recurs = false
  }
  addMatch(streak, call)
  const { failure } = call
  if (failure !== undefined && !remember(streak.errors, failure.whole, limits.loopStreaksMax))
    streak.recurs = true
  touch(streaks, call.tool, streak, limits.loopStreaksMax)
}

function end(tool: string, times: number, failing: CallEvidence[]): Finding {
  const own = failing.filter((call) => call.tool === tool)
  return {
    action: 'end',
    ordinary: false,
    key: tool,
    reason: `${tool} was called against its schema in ${times} consecutive rounds: ${own[0]?.failure?.reason ?? ''}`,
    text: '',
    class: 'deterministic',
    evidence: own.map(({ ref }) => ref),
  }
}

function intervene(
  tool: string,
  streak: SchemaStreak | undefined,
  loop: LoopThresholds,
): Finding[] {
  if (streak === undefined || streak.rounds < schemaRoundsMax(loop)) return []
  return [
    found(streak, {
      action: streak.action === 'none' || streak.recurs ? climb(streak) : 'nudge',
      key: tool,
      reason: `${tool} was called against its schema in ${streak.rounds} rounds, with ${streak.errors.size} different errors`,
      text: schemaFailures(streak.shown),
    }),
  ]
}

/**
 * The denials with their texts for the model: from the threshold on the text of I5 replaces the
 * usual one.
 */
export function sharpened(
  { rounds }: Memory,
  denials: Denial[],
  calls: Call[],
  { loop }: Policy,
): Denial[] {
  const byOrdinal = new Map(calls.map((call) => [call.ordinal, call]))
  return denials.map((denial) => {
    const call = byOrdinal.get(denial.ordinal)
    if (call === undefined || call.problem === 'stream_error' || !isSchemaFailure(denial.code))
      return denial
    const times = (rounds.get(toolOf(call)) ?? 0) + 1
    return times < loop.schemaFailures
      ? denial
      : { ...denial, text: schemaBreaker(call.name, times, denial.requiredFields) }
  })
}

/**
 * Missing or unreadable arguments, or a wrong shape. Not an unknown tool, which has no schema, and
 * not an unusable schema or a provider error in the stream: the model did not cause those.
 */
function isSchemaFailure(code: DenialCode): boolean {
  return code === 'schema' || code === 'no_arguments' || code === 'bad_arguments'
}
