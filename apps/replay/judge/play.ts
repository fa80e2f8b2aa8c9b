// Plays a scenario through the validator and the loop-detector, offline.
// A response is a round, and steps with one `turn` are one response. A session is a
// conversation, and a user's message begins a turn.
// The trace continues as recorded after an intervention or a text. The
// model's other course is unknown.
// A repeated delivery (a known call_id, or the text of a broken stream) is the same round
// and is judged once.
// Caps are played as the number of calls left, if the scenario or the caller names one.
// Time passes only if steps have times, so an answer alone proves no wait. A
// recorded session without times has an unknown pace, neither hasty nor long.

import { createHash } from 'node:crypto'
import { finalCall, type StreamedCall } from '../../../services/accumulator/call.ts'
import { loopDetector } from '../../../services/loop-detector/reducer.ts'
import { validator } from '../../../services/validator/reducer.ts'
import { errorLine } from '../../../shared/contract/call/error-line.ts'
import type { RoundId } from '../../../shared/contract/ids.ts'
import type {
  Call,
  CallResult,
  Declaration,
  Intervention,
  Policy,
  RoundExecuted,
  RoundProposed,
  ToolHints,
} from '../../../shared/contract/messages.ts'
import { isGuest } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { createPlayer, type Player } from '../../../shared/runtime/in-memory.ts'
import { unknownPaceMs } from '../../transcripts/made-up-settings.ts'
import type { Scenario, SilentStep, Step, ToolStep, TraceHints } from './scenario.ts'

/**
 * `step`: the number, from 1, of the last step of the response that led to it. `shadow`: its rule
 * is in shadow and would not have intervened. `cap`: a call exceeded the budget.
 */
export type Raised = { step: number } & (
  | { intervention: Intervention; shadow: boolean }
  | { cap: 'rounds' | 'calls'; reason: string }
)

/** The caps of the trace. Absent: none. */
export type Caps = { calls: number | undefined; rounds: number | undefined }

/** All interventions in the order of the steps, without ordinary reminders. */
export function play(scenario: Scenario, policyFor: (step: Step) => Policy, caps: Caps): Raised[] {
  const player = createPlayer()
  player.add(validator)
  player.add(loopDetector)
  const sessions = new Map<string, Session>()
  const raised: Raised[] = []
  let time = timesOf(scenario.steps)[0] ?? 0
  for (const { step, end, siblings } of responsesOf(scenario.steps)) {
    const name = step.session ?? ''
    const session = sessions.get(name) ?? beginSession(scenario, name)
    sessions.set(name, session)
    const times = timesOf(siblings)
    const isUntimed = scenario.isImported === true && siblings.length > 0 && times.length === 0
    time = Math.max(time + (isUntimed ? unknownPaceMs : 0), ...times)
    if (isResponse(step)) {
      const { round, isNew } = roundOf(session, siblings)
      const left = leftOf(session, caps)
      const proposed = proposedOf(
        scenario,
        { session, round, callsLeft: left.calls, policy: policyFor(step) },
        step,
        siblings,
      )
      if (isNew) session.calls += siblings.length
      const findings = judged(
        player,
        proposed,
        siblings.map((step, ordinal) => resultOf(scenario, step, ordinal)),
        time,
      )
      if (findings.refused && left.cap !== undefined) raised.push({ step: end, ...left.cap })
      for (const { intervention, shadow } of findings.interventions)
        raised.push({ step: end, intervention, shadow })
    } else if (step.kind === 'user') beginTurn(session)
    // a compaction changes nothing: earlier judgements are remembered
    else if (step.kind === 'stream_retry') session.retried = true
  }
  return raised
}

function timesOf(steps: readonly Step[]): Milliseconds[] {
  return steps.flatMap((step) => (step.kind === 'tool' ? (step.at ?? []) : []))
}

/** Siblings in a row are one response, judged after its last step. */
function responsesOf(steps: Step[]): { step: Step; end: number; siblings: ToolStep[] }[] {
  const responses: { step: Step; end: number; siblings: ToolStep[] }[] = []
  for (const [index, step] of steps.entries()) {
    const open = responses.at(-1)
    const [first] = open?.siblings ?? []
    const isSibling =
      step.kind === 'tool' &&
      step.turn !== undefined &&
      first?.turn === step.turn &&
      first.session === step.session
    if (open !== undefined && isSibling)
      Object.assign(open, { end: index + 1, siblings: [...open.siblings, step] })
    else responses.push({ step, end: index + 1, siblings: step.kind === 'tool' ? [step] : [] })
  }
  return responses
}

function isResponse(step: Step): step is ToolStep | SilentStep {
  return step.kind !== 'user' && step.kind !== 'compaction' && step.kind !== 'stream_retry'
}

type Session = RoundId & {
  /** Of this turn. */
  calls: number
  /** The round of each call id: a repeated delivery names the same round. */
  rounds: Map<string, number>
  last: string
  retried: boolean
}

/** That of a guest stays one, because its tools are declared by nobody. */
function beginSession({ id }: Scenario, name: string): Session {
  return {
    conversation: isGuest(id) ? `${id} ${name}` : `session ${name}`,
    turn: 0,
    round: 0,
    calls: 0,
    rounds: new Map(),
    last: '',
    retried: false,
  }
}

function beginTurn(session: Session): void {
  Object.assign(session, { turn: session.turn + 1, round: 0, calls: 0, last: '', retried: false })
  session.rounds.clear()
}

function roundOf(session: Session, siblings: ToolStep[]): { round: number; isNew: boolean } {
  const calls = JSON.stringify(siblings.map(({ tool, args, raw_args }) => [tool, raw_args ?? args]))
  const id = siblings[0]?.call_id
  const ofId = id === undefined ? undefined : session.rounds.get(id)
  const known = session.retried && calls === session.last ? session.round : ofId
  session.retried = false
  session.last = calls
  if (known === undefined) session.round += 1
  const round = known ?? session.round
  if (id !== undefined) session.rounds.set(id, round)
  return { round, isNew: known === undefined }
}

type Left = { calls: number; cap: { cap: 'rounds' | 'calls'; reason: string } | undefined }

function leftOf({ round, calls }: Session, { calls: callsMax, rounds: roundsMax }: Caps): Left {
  if (roundsMax !== undefined && round > roundsMax)
    return {
      calls: 0,
      cap: { cap: 'rounds', reason: `the turn's ${roundsMax} rounds were used up` },
    }
  if (callsMax === undefined) return { calls: Number.MAX_SAFE_INTEGER, cap: undefined }
  return {
    calls: Math.max(0, callsMax - calls),
    cap: { cap: 'calls', reason: `the turn's ${callsMax} calls were used up` },
  }
}

type Findings = {
  refused: boolean
  interventions: { intervention: Intervention; shadow: boolean }[]
}

function judged(
  player: Player,
  proposed: RoundProposed,
  results: CallResult[],
  time: Milliseconds,
): Findings {
  const { conversation, turn, round } = proposed
  player.append('rounds-proposed', proposed, { time })
  const outputs = player.settleNow()
  const cleared = outputs.find(({ message }) => message.type === 'round-cleared')?.message
  if (cleared?.type === 'round-cleared') {
    const decided = new Set(cleared.decided.map(({ ordinal }) => ordinal))
    const executed: RoundExecuted = {
      type: 'round-executed',
      conversation,
      turn,
      round,
      wishes: [],
      results: results.filter(({ ordinal }) => !decided.has(ordinal)),
    }
    player.append('rounds-checked', executed, { time })
    outputs.push(...player.settleNow())
  }
  return {
    refused: outputs.some(
      ({ message }) =>
        message.type === 'round-outcome' &&
        message.results.some(({ status }) => status === 'skipped'),
    ),
    interventions: outputs.flatMap(({ message }) =>
      message.type === 'intervention-raised' && !message.intervention.ordinary ? [message] : [],
    ),
  }
}

type Place = { session: Session; round: number; callsLeft: number; policy: Policy }

function proposedOf(
  scenario: Scenario,
  { session, round, callsLeft, policy }: Place,
  step: ToolStep | SilentStep,
  siblings: ToolStep[],
): RoundProposed {
  const isCut = step.kind !== 'tool' && step.finish === 'length'
  const whole = siblings.length > 0 ? 'calls' : 'end'
  return {
    type: 'round-proposed',
    conversation: session.conversation,
    turn: session.turn,
    round,
    response: {
      attempt: createHash('sha256').update(`${session.turn}/${round}`).digest('hex').slice(0, 32),
      text: step.kind === 'text' ? (step.text ?? '') : '',
      reasoning: step.kind === 'thinking_only' ? '[{"type":"thinking"}]' : '',
      calls: siblings.map(callOf),
      stop: isCut ? 'length' : whole,
      finish: '',
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      textCalls: null,
    },
    failure: null,
    offered: [
      ...new Set([
        ...(scenario.tools ?? []).map(({ name }) => name),
        ...offeredBy(scenario, siblings),
      ]),
    ],
    declarations: declarationsOf(scenario, siblings),
    agent: 'agent',
    policy,
    callsLeft,
    expiresAt: Number.MAX_SAFE_INTEGER,
  }
}

/** If a scenario lists its tools, others are unknown. Otherwise each called tool was offered. */
function offeredBy({ tools }: Scenario, siblings: ToolStep[]): string[] {
  return tools === undefined ? siblings.map(({ tool }) => tool) : []
}

function declarationsOf(
  { tools, tool_hints: hints = {} }: Scenario,
  siblings: ToolStep[],
): Declaration[] {
  return [...new Set(siblings.map(({ tool }) => tool))].flatMap((name) => {
    const declared = tools?.find((tool) => tool.name === name)
    if (tools !== undefined && declared === undefined) return []
    const { poll = false, ...given } = Object.hasOwn(hints, name) ? (hints[name] ?? {}) : {}
    const schema = JSON.stringify(declared?.schema ?? { type: 'object' })
    return [
      {
        name,
        description: '',
        schema,
        idempotent: false,
        timeoutMs: 60_000,
        poll,
        hints: hintsOf(given),
      },
    ]
  })
}

/** As an agent file declares them. A corpus of another framework may use the name `ignore_args`. */
function hintsOf({
  mutates,
  ignoreFields,
  ignore_args,
  loopKey,
}: Omit<TraceHints, 'poll'>): ToolHints {
  return {
    mutates: mutates ?? null,
    ignoreFields: [...(ignoreFields ?? []), ...(ignore_args ?? [])],
    loopKey: loopKey ?? [],
    denial: null,
    labels: [],
    client: false,
    once: null,
  }
}

/** As the accumulator finalizes a call of a whole response. */
function callOf({ tool, args, raw_args, call_id }: ToolStep, ordinal: number): Call {
  const raw = raw_args ?? (typeof args._raw === 'string' ? args._raw : JSON.stringify(args))
  const streamed: StreamedCall = {
    id: call_id ?? `call ${ordinal}`,
    name: tool,
    extra: undefined,
    isFreeText: false,
    deltas: raw === '' ? [] : [raw],
    dones: [],
    start: '',
    isInMessage: false,
    end: 'closed',
  }
  const end = { ordinal, stop: 'calls' as const, last: true, broken: false, strayArguments: false }
  return finalCall(streamed, end)
}

/** A failure has the short reason that the executor gave, or would give. */
function resultOf({ reasonOf }: Scenario, step: ToolStep, ordinal: number): CallResult {
  const { outcome: status, result: text } = step
  const reason = status === 'ok' ? '' : (reasonOf?.(step) ?? errorLine(text) ?? '')
  return { ordinal, status, text, reason, durationMs: 1, contents: [], tokens: null, guard: '' }
}
