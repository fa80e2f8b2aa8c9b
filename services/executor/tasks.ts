// The tasks that an open turn has for the executor's performer.

import { argumentText } from '../../shared/contract/call/call.ts'
import { approvalGuard } from '../../shared/contract/guard/approval-guard.ts'
import { callKey, type RoundId, type TryId } from '../../shared/contract/ids.ts'
import type {
  Declaration,
  GuardInForce,
  RedactRule,
  TreeCaps,
} from '../../shared/contract/messages.ts'
import { clientOwner, guestOwner } from '../../shared/contract/topology.ts'
import { toolTimeout } from '../../shared/contract/turn/tool-deadline.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { stopReason } from '../../shared/runtime/settings/stops.ts'
import type { StopTarget, TreePlace } from '../../shared/runtime/settings/stops-in-force.ts'
import { isAsked, needsPrograms } from './guards/approval-asking.ts'
import type { OpenCall, Question, Round, Turn } from './turn.ts'

/** Claim a try, run the try that `owner` has claimed, or stop it when it is cancelled. */
export type ToolTask = TryId &
  StopTarget & { expiresAt: Milliseconds } & (
    | { kind: 'claim'; tool: string }
    | {
        kind: 'run'
        owner: string
        cancelled: boolean
        /** The reason of an operator who stopped it. Undefined: none did. */
        stopReason: string | undefined
        declaration: Declaration
        /** The guards that the round names, and the round's append time. */
        guards: GuardInForce[]
        clearedAt: Milliseconds
        /** The hash of the program for which it may run. Undefined: any. */
        program: string | undefined
        /** The rules that hide values of the turn from readers of the log. */
        redact: RedactRule[]
        /** The caps of the turn's tree. */
        tree: TreeCaps | null
        /** The JSON text that the tool gets. */
        arguments: string
        /** The newest answer of a person to a question of the tool. */
        answer: ({ number: number } & NonNullable<Question['answer']>) | undefined
        startWithinMs: Milliseconds
        timeoutMs: Milliseconds
        graceMs: Milliseconds
        /** The same for all tries of this call, and for no other call. */
        idempotencyKey: string
      }
  )

/**
 * Copy the guard's answer to a waiting round into the inbox. `since`: when the round arrived.
 * `calls`: those that wait for it.
 */
export type VerdictTask = RoundId &
  StopTarget & {
    kind: 'await-verdict'
    guard: string
    since: Milliseconds
    calls: { ordinal: number; tool: string }[]
    /** The number of the question of a running tool that the guard passes on. Undefined: none. */
    input?: number
  }

/** Find the programs of these calls and write their hashes into the inbox. */
export type ProgramTask = RoundId & {
  kind: 'hash-programs'
  agent: string
  calls: { ordinal: number; declaration: Declaration }[]
}

/** Offer a ready call to the client of its conversation. `isOffered`: the log has the offer. */
export type OfferTask = TryId &
  Pick<
    Extract<ToolTask, { kind: 'run' }>,
    | 'agent'
    | keyof TreePlace
    | 'declaration'
    | 'guards'
    | 'clearedAt'
    | 'arguments'
    | 'timeoutMs'
    | 'graceMs'
    | 'idempotencyKey'
  > & { kind: 'offer'; isOffered: boolean }

export type ExecutorTask = ToolTask | VerdictTask | ProgramTask | OfferTask

/** The tasks by the part of the performer that does them. */
export function byPart(tasks: readonly ExecutorTask[]) {
  const verdicts: VerdictTask[] = []
  const hashes: ProgramTask[] = []
  const offered: OfferTask[] = []
  const tools: ToolTask[] = []
  for (const task of tasks)
    if (task.kind === 'await-verdict') verdicts.push(task)
    else if (task.kind === 'hash-programs') hashes.push(task)
    else if (task.kind === 'offer') offered.push(task)
    else tools.push(task)
  return { verdicts, hashes, offered, tools }
}

/** All tasks that the turn has now. */
export function tasksOf(turn: Turn): ExecutorTask[] {
  return turn.rounds.flatMap((round) => [
    ...round.guards.map(({ name }) => verdictTask(turn, round, name)),
    ...round.personOffers.flatMap(({ input }) => inputTask(turn, round, input)),
    ...(needsPrograms(round) ? [programTask(turn, round)] : []),
    ...round.calls.flatMap((call) => taskOf(turn, round, call) ?? []),
  ])
}

function taskOf(
  { conversation, turn }: Turn,
  { round, agent, policy, expiresAt, clearedAt }: Round,
  { call, phase, program }: OpenCall,
): ToolTask | OfferTask | undefined {
  if (phase.kind === 'done' || phase.kind === 'waiting') return undefined
  if (phase.kind === 'claimed' && phase.owner === guestOwner) return undefined // the guest runs it
  if (phase.kind === 'ready' && phase.claimsAt !== undefined) return undefined
  const callTry = { conversation, turn, round, ordinal: call.ordinal, try: phase.try, expiresAt }
  const { declaration } = phase
  const { calledBy, parent } = policy
  const start = {
    agent,
    calledBy,
    parent,
    declaration,
    guards: policy.guards,
    clearedAt,
    arguments: argumentText(call),
    timeoutMs: toolTimeout(declaration),
    graceMs: policy.graceMs,
    idempotencyKey: callKey(callTry),
  }
  if (declaration.hints?.client === true) {
    const isOffered = phase.kind === 'claimed'
    // Another owner of the claim denies the call (offers.ts).
    if (isOffered && phase.owner !== clientOwner) return undefined
    return { kind: 'offer', ...callTry, ...start, isOffered }
  }
  if (phase.kind === 'ready')
    return { kind: 'claim', ...callTry, agent, calledBy, parent, tool: call.name }
  const { owner, cancelled, stop, question } = phase
  return {
    kind: 'run',
    ...callTry,
    ...start,
    owner,
    cancelled,
    stopReason: stop && stopReason(stop),
    program,
    redact: policy.redact,
    tree: policy.tree,
    answer: question?.answer && { number: question.number, ...question.answer },
    startWithinMs: policy.startWithinMs,
  }
}

function verdictTask(
  { conversation, turn }: Turn,
  { round, agent, policy: { calledBy, parent }, clearedAt, calls }: Round,
  guard: string,
): VerdictTask {
  const waiting = calls.flatMap(({ call: { ordinal, name }, phase }) =>
    phase.kind === 'waiting' && phase.guards.includes(guard) ? [{ ordinal, tool: name }] : [],
  )
  const of = { conversation, turn, round, guard, since: clearedAt, agent, calledBy, parent }
  return { kind: 'await-verdict', ...of, calls: waiting }
}

/** Its run has a task for an operator's stop, so this one names no call. */
function inputTask(
  { conversation, turn }: Turn,
  { round, agent, policy: { calledBy, parent }, calls }: Round,
  input: number,
): VerdictTask[] {
  return calls.flatMap(({ phase }) =>
    phase.kind === 'claimed' && phase.question?.input === input
      ? [
          {
            kind: 'await-verdict',
            conversation,
            turn,
            round,
            guard: approvalGuard,
            agent,
            calledBy,
            parent,
            since: phase.question.since,
            calls: [],
            input,
          },
        ]
      : [],
  )
}

function programTask({ conversation, turn }: Turn, { round, agent, calls }: Round): ProgramTask {
  const asked = calls.flatMap((open) =>
    isAsked(open) && open.phase.kind === 'waiting'
      ? [{ ordinal: open.call.ordinal, declaration: open.phase.declaration }]
      : [],
  )
  return { kind: 'hash-programs', conversation, turn, round, agent, calls: asked }
}
