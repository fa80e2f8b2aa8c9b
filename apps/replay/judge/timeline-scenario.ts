// A conversation of Weir as a scenario without a label: its rounds, the thresholds of each, and the
// declarations of its tools.

import type { CallTimeline, RoundTimeline, Timeline } from '../../../shared/view/timeline.ts'
import { isPlayed } from '../../transcripts/made-up-settings.ts'
import type { OwnSettings, Scenario, Step, ToolStep, TraceHints } from './scenario.ts'

const text = { type: 'string' }
const texts = { type: 'array', items: text }

/** The parts of a timeline that are read. Other fields are ignored. */
export const timelineSchema = {
  type: 'object',
  required: ['conversation', 'turns'],
  properties: {
    conversation: { type: 'string', minLength: 1 },
    turns: {
      type: 'array',
      items: {
        type: 'object',
        required: ['rounds'],
        properties: {
          rounds: {
            type: 'array',
            items: {
              type: 'object',
              required: ['response', 'calls'],
              properties: {
                policy: {
                  type: ['object', 'null'],
                  required: ['differs'],
                  properties: {
                    differs: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
                  },
                },
                endedAt: { type: ['number', 'null'] },
                hints: {
                  type: 'object',
                  additionalProperties: {
                    type: 'object',
                    required: ['poll', 'mutates', 'ignoreFields', 'loopKey'],
                    properties: {
                      poll: { type: 'boolean' },
                      mutates: { type: ['boolean', 'null'] },
                      ignoreFields: texts,
                      loopKey: texts,
                    },
                  },
                },
                response: {
                  type: ['object', 'null'],
                  required: ['text', 'reasoning', 'stop'],
                  properties: { text, reasoning: { type: ['object', 'null'] }, stop: text },
                },
                calls: {
                  type: 'array',
                  items: {
                    type: 'object',
                    required: ['name', 'raw', 'result'],
                    properties: {
                      name: text,
                      raw: text,
                      result: {
                        type: ['object', 'null'],
                        required: ['status', 'text', 'reason'],
                        properties: { status: text, text, reason: text },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
}

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
  const cut = response.stop === 'length' ? { finish: 'length' } : {}
  if (response.text.trim() !== '') return [{ step: { kind: 'text', text: response.text, ...cut } }]
  return [{ step: { kind: response.reasoning === null ? 'empty' : 'thinking_only', ...cut } }]
}

/** Skips calls that never ran because the turn had no time or budget left. */
function toolStep({ name, raw, result }: CallTimeline, turn: number): RecordedStep[] {
  if (result === null || result.status === 'skipped') return []
  const outcome = result.status === 'ok' ? 'ok' : 'error'
  const { text, reason } = result
  const step: ToolStep = {
    kind: 'tool',
    tool: name,
    args: {},
    raw_args: raw,
    turn,
    outcome,
    result: text,
  }
  return [{ step, reason }]
}
