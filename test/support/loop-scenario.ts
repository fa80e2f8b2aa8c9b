// Plays a neutral trace of a loop scenario (fixtures/README.md) through the loop-detector, and judges what it did against the labels.
//
// A response is a round; siblings of one `turn` are one round; a session is a conversation; a user's message is a new turn. Nothing checks calls
// against a schema. Caps are the conversation's: here they are played as `callsLeft`, and a call that is refused for it is an intervention. Kinder
// than the pipeline: a trace goes on after an intervention as it was recorded, and after a text, which would end the turn.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loopDetector } from '../../services/loop-detector/reducer.ts'
import { defaultPolicy } from '../../shared/agents.ts'
import type { Call, CallResult, Declaration, RoundChecked } from '../../shared/messages.ts'
import { given } from './given.ts'

type ToolStep = {
  kind: 'tool'
  tool: string
  args: Record<string, unknown>
  outcome: 'ok' | 'error'
  result: string
  turn?: number
  call_id?: string
  session?: string
  raw_args?: string
}
type SilentStep = { kind: 'text' | 'thinking_only' | 'empty'; text?: string; finish?: string; session?: string }
type OtherStep = { kind: 'user'; session?: string } | { kind: 'compaction'; session?: string } | { kind: 'stream_retry'; session?: string }

export type LoopScenario = {
  id: string
  description: string
  steps: (ToolStep | SilentStep | OtherStep)[]
  tool_hints?: Record<string, { poll?: boolean; ignore_args?: string[] }>
  limits?: { max_tool_calls?: number; max_turns?: number }
  expect: { fires: boolean; by_step: number | null; kind?: string; reason: string }
  second_by_step?: number
}

/** `fired`: the steps after which the detector intervened, ordinary reminders aside. */
export type Verdict = { passes: boolean; fired: number[]; wrong: string }

const fixture = join(import.meta.dirname, '../../../shared/fixtures/loop-scenarios.jsonl')

/** Undefined where the fixtures are not there. */
export function loopScenarios(): LoopScenario[] | undefined {
  if (!existsSync(fixture)) return undefined
  const lines = readFileSync(fixture, 'utf8').split('\n')
  return lines.filter((line) => line.trim() !== '').map((line): LoopScenario => JSON.parse(line))
}

export function judged(scenario: LoopScenario): Verdict {
  const { steps, expect, second_by_step: secondBy } = scenario
  const fired = firedBy(scenario)
  const [first] = fired
  const verdict = (wrong: string): Verdict => ({ passes: wrong === '', fired, wrong })
  if (!expect.fires) return verdict(first === undefined ? '' : `intervened after step ${first}`)
  if (first === undefined) return verdict('never intervened')
  if (expect.by_step !== null && first > expect.by_step) return verdict(`first intervened after step ${first}, not by ${expect.by_step}`)
  if (secondBy === undefined) return verdict('')
  const goOn = steps.findIndex((step, index) => step.kind === 'user' && index + 1 > first) + 1
  const isSecond = fired.some((step) => step > goOn && step <= secondBy)
  return verdict(isSecond ? '' : `no second intervention by step ${secondBy}`)
}

/** One session: where it stands, and the responses of its rounds, because a delivery that comes again names the same round. */
type Session = {
  turn: number
  round: number
  calls: number
  responses: number
  rounds: Map<string, number>
  last: string
  retried: boolean
}

function firedBy(scenario: LoopScenario): number[] {
  const { steps, limits: caps = {} } = scenario
  const sessions = new Map<string, Session>()
  const fired: number[] = []
  let story = given(loopDetector)

  for (let index = 0; index < steps.length; index += 1) {
    const step = steps[index]
    if (step === undefined) continue
    const name = step.session ?? ''
    const session = sessions.get(name) ?? { turn: 0, round: 0, calls: 0, responses: 0, rounds: new Map(), last: '', retried: false }
    sessions.set(name, session)
    if (step.kind === 'user') {
      Object.assign(session, { turn: session.turn + 1, round: 0, calls: 0, responses: 0, last: '' })
      session.rounds.clear()
      continue
    }
    if (step.kind === 'stream_retry') {
      session.retried = true
      continue
    }
    if (step.kind === 'compaction') continue // the detector's memory is not the model's
    const group = step.kind === 'tool' ? siblingsFrom(steps, index) : []
    index += Math.max(0, group.length - 1)

    const identity = JSON.stringify(group.map(({ tool, args, raw_args }) => [tool, raw_args ?? args]))
    const delivered = group[0]?.call_id
    // A stream that was started again answers the same request: what it repeats is the same round.
    const known = session.retried && identity === session.last ? session.round : delivered && session.rounds.get(delivered)
    session.retried = false
    session.last = identity
    const round = known || session.round + 1
    if (!known) {
      session.round = round
      session.responses += 1
    }
    if (delivered !== undefined) session.rounds.set(delivered, round)

    const callsLeft = callsLeftOf(session, caps)
    const checked = checkedOf(scenario, { name, turn: session.turn, round, callsLeft }, step, group)
    if (!known) session.calls += group.length
    story = story.when(checked)
    let refused = refusedBy(story.to('conversation'))
    if (story.to('tools').length > 0) {
      const { conversation, turn } = checked
      story = story.when({ type: 'round-executed', conversation, turn, round, results: group.map(resultOf), wishes: [] })
      refused ||= refusedBy(story.to('conversation'))
    }
    if (refused || story.to('activity').some(({ type }) => type === 'intervention-raised')) fired.push(index + 1)
  }
  return fired
}

function siblingsFrom(steps: LoopScenario['steps'], from: number): ToolStep[] {
  const group: ToolStep[] = []
  for (const step of steps.slice(from)) {
    const [first] = group
    if (
      step.kind !== 'tool' ||
      (first !== undefined && (first.turn === undefined || step.turn !== first.turn || step.session !== first.session))
    )
      break
    group.push(step)
  }
  return group
}

function callsLeftOf(
  { calls, responses }: Session,
  { max_tool_calls: callsMax = 100, max_turns: turnsMax = 1_000 }: LoopScenario['limits'] & {},
) {
  return responses > turnsMax ? 0 : Math.max(0, callsMax - calls)
}

/** A call that had no budget left. */
function refusedBy(messages: { type: string }[]): boolean {
  return messages.some((message) => 'results' in message && (message.results as CallResult[]).some(({ status }) => status === 'skipped'))
}

function checkedOf(
  { tool_hints: hints = {} }: LoopScenario,
  { name, turn, round, callsLeft }: { name: string; turn: number; round: number; callsLeft: number },
  step: ToolStep | SilentStep,
  group: ToolStep[],
): RoundChecked {
  const text = step.kind === 'text' ? (step.text ?? '') : ''
  const cut = step.kind !== 'tool' && step.finish === 'length'
  return {
    type: 'round-checked',
    conversation: `scenario ${name}`,
    ...{ turn, round },
    response: {
      attempt: 'a',
      text,
      reasoning: step.kind === 'thinking_only' ? '[{"type":"thinking","thinking":"Hm."}]' : '',
      calls: group.map(callOf),
      stop: cut ? 'length' : group.length > 0 ? 'calls' : 'end',
      finish: '',
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
    failure: null,
    rejections: [],
    declarations: [...new Set(group.map(({ tool }) => tool))].map((tool) => declarationOf(tool, hints[tool])),
    ...{ agent: 'agent', policy: defaultPolicy, callsLeft, expiresAt: Number.MAX_SAFE_INTEGER },
  }
}

function declarationOf(name: string, { poll = false, ignore_args = [] }: { poll?: boolean; ignore_args?: string[] } = {}): Declaration {
  const properties = Object.fromEntries(ignore_args.map((argument) => [argument, { 'x-weir-comment': true }]))
  return { name, description: '', schema: JSON.stringify({ type: 'object', properties }), idempotent: false, timeoutMs: 60_000, poll }
}

function callOf({ tool, args, raw_args, call_id }: ToolStep, ordinal: number): Call {
  const broken = typeof args._raw === 'string' ? args._raw : undefined
  const raw = raw_args ?? broken ?? JSON.stringify(args)
  return {
    ordinal,
    id: call_id ?? `id ${ordinal}`,
    name: tool,
    raw,
    source: 'deltas',
    problem: broken === undefined ? null : 'invalid_json',
  }
}

function resultOf({ outcome, result }: ToolStep, ordinal: number): CallResult {
  const reason = outcome === 'ok' ? '' : (result.split('\n')[0] ?? '')
  return { ordinal, status: outcome, text: result, reason, durationMs: 1 }
}
