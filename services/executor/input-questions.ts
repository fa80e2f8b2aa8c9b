// Questions of running tools to a person: each goes to the approval stage, and its answer to the
// owner of the claim. Part of the reducer.
// INPUT-QUESTIONS-1. Only a claim in force has questions: one at a time, in the order of their
//     numbers. A cancelled call has none.
// INPUT-QUESTIONS-2. A question that its call no longer needs is withdrawn, once.
// INPUT-QUESTIONS-3. The first answer counts. It changes no phase: the outcome of the claim or its
//     deadline still decides the call (keeps EXEC-1).

import { argumentText } from '../../shared/contract/call/call.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { InputGiven, InputRequested } from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { claimDeadline, type OpenCall, type Phase, type Round, type Turn } from './turn.ts'

type Claimed = Extract<Phase, { kind: 'claimed' }>

/** Passes on a question of this claim. A repeated or an early one changes nothing. */
export function requestInput(
  { conversation, turn }: Turn,
  round: Round,
  { call, phase }: OpenCall & { phase: Claimed },
  { number, question, waitMs }: InputRequested,
  time: Milliseconds,
): Output[] {
  const former = phase.question
  const isNext = number > (former?.number ?? 0) && (former === undefined || 'answer' in former)
  if (!isNext || phase.cancelled || number > limits.inputsOfTryMax) return []
  round.inputs += 1
  const input = round.inputs
  const until = Math.min(time + Math.max(0, waitMs), claimDeadline(round, phase))
  const { ordinal, name } = call
  phase.question = { number, input, since: time }
  round.openInputs.push({ ordinal, input })
  const asked = { ordinal, name, arguments: argumentText(call), question }
  const source = call.source === 'text' ? call.source : null
  return [
    {
      to: 'person',
      message: {
        type: 'approval-asked',
        conversation,
        turn,
        round: round.round,
        input,
        agent: round.agent,
        calls: [{ ...asked, source, program: null, requested: null }],
        rules: '',
        version: '',
        clearedAt: time,
        deadlineMs: until - time,
        until,
      },
    },
  ]
}

/** Keeps INPUT-QUESTIONS-3. */
export function applyInput(round: Round, { input, answer, values }: InputGiven): void {
  const open = round.openInputs.find((one) => one.input === input)
  const call = round.calls.find(({ call }) => call.ordinal === open?.ordinal)
  if (call?.phase.kind !== 'claimed' || call.phase.question?.input !== input) return
  round.openInputs = round.openInputs.filter((one) => one.input !== input)
  call.phase.question = { ...call.phase.question, answer: { answer, values } }
}

/** Keeps INPUT-QUESTIONS-2. */
export function withdrawInputs({ conversation, turn }: Turn, round: Round): Output[] {
  const gone = round.openInputs.filter(({ ordinal, input }) => {
    const phase = round.calls.find(({ call }) => call.ordinal === ordinal)?.phase
    return phase?.kind !== 'claimed' || phase.cancelled || phase.question?.input !== input
  })
  if (gone.length === 0) return []
  round.openInputs = round.openInputs.filter((one) => !gone.includes(one))
  return withdrawn({ conversation, turn }, round.round, gone, 'its call needs no answer any more')
}

/** Withdraws the questions of a failed turn (keeps INPUT-QUESTIONS-2). */
export function withdrawAllInputs(of: Turn, reason: string): Output[] {
  return of.rounds.flatMap(({ round, openInputs }) => withdrawn(of, round, openInputs, reason))
}

function withdrawn(
  { conversation, turn }: Pick<Turn, 'conversation' | 'turn'>,
  round: number,
  inputs: Round['openInputs'],
  reason: string,
): Output[] {
  return inputs.map(({ ordinal, input }) => ({
    to: 'person',
    message: {
      type: 'approval-withdrawn',
      conversation,
      turn,
      round,
      input,
      calls: [{ ordinal, reason }],
    },
  }))
}
