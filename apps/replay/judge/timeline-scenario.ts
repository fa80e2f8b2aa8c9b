// A conversation of Weir as a scenario without a label: its rounds, the thresholds of each, and the
// declarations of its tools.

import type { CallTimeline, RoundTimeline, Timeline } from '../../../shared/view/timeline.ts'
import { isPlayed } from '../../transcripts/made-up-settings.ts'
import { flag, listOf, mapOf, number, objectOf, orNull, someText, text } from './json-schema.ts'
import type { OwnSettings, Scenario, SilentStep, Step, ToolStep, TraceHints } from './scenario.ts'

const policy = orNull(objectOf({ differs: mapOf(orNull(text)) }))
const hints = objectOf({
  poll: flag,
  mutates: orNull(flag),
  ignoreFields: listOf(text),
  loopKey: listOf(text),
})
const response = orNull(objectOf({ text, reasoning: { type: ['object', 'null'] }, stop: text }))
const result = orNull(objectOf({ status: text, text, reason: text }))
const calls = listOf(objectOf({ name: text, rawArguments: text, result }))
const round = objectOf({ policy, endedAt: orNull(number), hints: mapOf(hints), response, calls }, [
  'response',
  'calls',
])

/** The parts of a timeline that are read. Other fields are ignored. */
export const timelineSchema = objectOf({
  conversation: someText,
  turns: listOf(objectOf({ rounds: listOf(round) })),
})

/**
 * `timeline`: as `weir inspect ID --json` prints it. An earlier Weir wrote no settings and no
 * hints. A tool's latest declaration counts. Rounds without a response are left out. An imported
 * transcript is judged by the defaults: its settings were made up.
 */
export function scenarioOf({
  conversation,
  turns,
}: Pick<Timeline, 'conversation' | 'turns'>): Scenario {
  let response = 0
  const isImported = isPlayed(turns)
  const settings = new Map<Step, OwnSettings>()
  const reasons = new Map<Step, string>()
  const steps = turns.flatMap(({ rounds }): Step[] => [
    { kind: 'user' },
    ...rounds.flatMap((round) => {
      response += 1
      const own = stepsOf(round, response)
      const { endedAt } = round
      for (const { step, reason } of own) {
        if (step.kind === 'tool' && endedAt !== null && !isImported) step.at = endedAt
        settings.set(step, round.policy?.differs ?? {})
        if (reason !== undefined) reasons.set(step, reason)
      }
      return own.map(({ step }) => step)
    }),
  ])
  const declared = turns.flatMap(({ rounds }) =>
    rounds.flatMap(({ hints }) => Object.entries(hints ?? {})),
  )
  const tool_hints = Object.fromEntries(
    declared.map(([name, { mutates, ...hints }]): [string, TraceHints] => [
      name,
      mutates === null ? hints : { ...hints, mutates },
    ]),
  )
  const reasonOf = (step: Step) => reasons.get(step)
  const scenario = { id: conversation, steps, tool_hints, reasonOf }
  return isImported
    ? { ...scenario, isImported }
    : { ...scenario, settingsOf: (step) => settings.get(step) ?? {} }
}

/** `reason`: of a call, as in the log. */
type RecordedStep = { step: Step; reason?: string }

function stepsOf({ response, calls }: RoundTimeline, turn: number): RecordedStep[] {
  if (response === null) return []
  if (calls.length > 0) return calls.flatMap((call) => toolStep(call, turn))
  const { text, reasoning, stop } = response
  return [{ step: silentStep({ text, thinks: reasoning !== null, stop }) }]
}

/** The step of a response without calls. `stop`: as in an attempt. */
export function silentStep({
  text,
  thinks,
  stop,
}: {
  text: string
  thinks: boolean
  stop: string
}): SilentStep {
  const cut = stop === 'length' ? { finish: 'length' } : {}
  if (text.trim() !== '') return { kind: 'text', text, ...cut }
  return { kind: thinks ? 'thinking_only' : 'empty', ...cut }
}

/** Skips calls that never ran because the turn had no time or budget left. */
function toolStep({ name, rawArguments, result }: CallTimeline, turn: number): RecordedStep[] {
  if (result === null || result.status === 'skipped') return []
  const outcome = result.status === 'ok' ? 'ok' : 'error'
  const { text, reason } = result
  const step: ToolStep = {
    kind: 'tool',
    tool: name,
    args: {},
    raw_args: rawArguments,
    turn,
    outcome,
    result: text,
  }
  return [{ step, reason }]
}
