// A round with calls for the approval guard: the calls that wait for a person, and their decisions.
// It is the stage's unit. approval-log.ts folds the same records with the same functions.

import { questionIn } from '../../shared/contract/call/input-question.ts'
import { noRuleCode } from '../../shared/contract/guard/approval-guard.ts'
import type { JsonObject } from '../../shared/contract/guard/guard.ts'
import type { RoundId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  ApprovalAnswered,
  ApprovalAsked,
  ApprovalWithdrawn,
  AskedCall,
  CallVerdict,
} from '../../shared/contract/messages.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { objectIn } from '../../shared/lib/json/json-object.ts'
import { onOneLine, shortened } from '../../shared/lib/text-cut.ts'
import { rulesUnreadable } from '../../shared/model-texts/denied-calls.ts'
import {
  type Approval,
  applyDecision,
  applyTime,
  applyWithdrawal,
  type Decided,
  hashOf,
  idOf,
} from './approval.ts'
import { type CompiledRule, ruleFor, rulesIn } from './rules.ts'

/**
 * An approval expires this much before the executor stops waiting, or after three quarters of a
 * short wait. Its own text should come first.
 */
export const approvalAnswerMs = 10_000

export type ApprovalRound = RoundId & {
  /** The number of the question; 0: approvals. */
  input: number
  version: string
  clearedAt: Milliseconds
  deadlineMs: Milliseconds
  expiresAt: Milliseconds
  /**
   * Verdicts that need no person: on calls that no rule names, and on all if the rules cannot be
   * used.
   */
  judged: CallVerdict[]
  /** By ordinal. */
  approvals: Approval[]
  /** Ordinals of the calls that wait for this guard's verdict. */
  awaited: number[]
}

export function approvalRound(message: ApprovalAsked): ApprovalRound {
  const { conversation, turn, round, agent, version, clearedAt, deadlineMs, until, input } = message
  const expiresAt =
    until - Math.min(approvalAnswerMs, Math.floor(Math.max(0, until - clearedAt) / 4))
  const judged: CallVerdict[] = []
  const approvals: Approval[] = []
  const rules = rulesIn(message.rules)
  for (const asked of message.calls) {
    const { requested: _, ...call } = asked
    const verdictOrRule =
      asked.question === null ? judgeByRules(asked, rules) : questionRule(asked.question)
    if (typeof verdictOrRule !== 'string') {
      judged.push(verdictOrRule)
      continue
    }
    const { question } = asked
    const bound = question === null ? call.program : `${input} ${question}`
    const hash = hashOf(call.name, call.arguments, bound)
    const id = idOf(message, call.ordinal, hash)
    const request = {
      conversation,
      turn,
      round,
      agent,
      input,
      ...call,
      id,
      hash,
      rule: verdictOrRule,
      askedAt: clearedAt,
      expiresAt,
    }
    approvals.push({ kind: 'pending', request })
  }
  const awaited = message.calls.map(({ ordinal }) => ordinal)
  return {
    conversation,
    turn,
    round,
    input,
    version,
    clearedAt,
    deadlineMs,
    expiresAt,
    judged,
    approvals,
    awaited,
  }
}

/** In place of a rule. */
function questionRule(text: string): string {
  const { server, message } = questionIn(text) ?? { server: '', message: '' }
  return shortened(onOneLine(`the server ${server} asks: ${message}`), limits.reasonBytesMax)
}

/** The rule, or the guard, that makes it wait, or its verdict. */
function judgeByRules(
  { ordinal, name, arguments: text, program, requested }: AskedCall,
  rules: CompiledRule[] | undefined,
): string | CallVerdict {
  if (rules === undefined) {
    return {
      ordinal,
      verdict: 'deny',
      code: 'approval.rules-unusable',
      text: rulesUnreadable,
      evidence: null,
    }
  }
  if (requested !== null) return requested
  // Each rule of the tool matches if the text is no JSON object.
  const given = objectIn(text) as JsonObject | undefined
  const rule = ruleFor({ tool: name, arguments: given }, rules)
  const code = program === null ? '' : noRuleCode
  return rule?.name ?? { ordinal, verdict: 'allow', code, text: '', evidence: null }
}

/** Applies a record, or only the time, in place. Returns the newly decided calls. */
export function applyRecord(
  round: ApprovalRound,
  message: ApprovalAnswered | ApprovalWithdrawn | undefined,
  time: Milliseconds,
): Decided[] {
  const changed: Decided[] = []
  round.approvals = round.approvals.map((before) => {
    const after = next(before, message, time)
    if (before.kind === 'pending' && after.kind !== 'pending') changed.push(after)
    return after
  })
  if (message?.type === 'approval-withdrawn')
    round.awaited = round.awaited.filter(
      (ordinal) => !message.calls.some((call) => call.ordinal === ordinal),
    )
  return changed
}

function next(
  before: Approval,
  message: ApprovalAnswered | ApprovalWithdrawn | undefined,
  time: Milliseconds,
): Approval {
  if (message?.type === 'approval-answered') return applyDecision(before, message, time)
  const withdrawal = message?.calls.find(({ ordinal }) => ordinal === before.request.ordinal)
  return withdrawal === undefined
    ? applyTime(before, time)
    : applyWithdrawal(applyTime(before, time), withdrawal.reason, time)
}
