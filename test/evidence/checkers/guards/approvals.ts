// Approvals, derived a second time from the log of the stage's inbox. A call that the rules name
// waits for a person. The first decision before it expires counts, unless the call was withdrawn
// before. The deadline decides like a person does. Each outcome is reported once, the guard's
// verdict agrees, and no client got another outcome. Such a call never starts before its approval.

import type { ApprovalOutcome, CallVerdict } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  recordsOf,
  roundKey,
} from '../../evidence.ts'

/** A call that waits for a person. `by` and `time` belong to its decision. */
type Waiting = {
  key: string
  ordinal: number
  outcome: ApprovalOutcome | undefined
  by: string
  time: number
  at: string
}

type Decided = Evidence & Required<Pick<Evidence, 'decisions'>>

type Round = {
  calls: Waiting[]
  requested: number[]
  withdrawn: number[]
  expiresAt: number
  time: number
  at: string
}

export const approvals: Checker<'decisions'> = {
  name: 'approvals',
  rule: 'A call that needs a person starts only after the first decision in time allowed it.',
  needs: ['decisions'],
  check(evidence) {
    const rounds = roundsOf(evidence)
    const calls = new Map(
      [...rounds.values()].flatMap((round) => round.calls.map((call) => [call.key, call])),
    )
    return [
      ...requests(rounds, evidence),
      ...decisionReports(calls, evidence),
      ...verdicts(rounds, evidence),
      ...started(calls, evidence),
    ]
  },
}

/** By round. */
export function roundsOf(evidence: Evidence): Map<string, Round> {
  const rounds = new Map<string, Round>()
  const until = new Map(
    recordsOf(evidence, 'approval-pending').map(({ message }) => [
      roundKey(message),
      message.until,
    ]),
  )
  for (const record of recordsOf(
    evidence,
    'approval-asked',
    'approval-answered',
    'approval-withdrawn',
    'tick',
  )) {
    if (record.topic !== 'approvals') continue
    const { message } = record
    const key = message.type === 'tick' ? message.unit : roundKey(message)
    const round = rounds.get(key)
    if (message.type === 'approval-asked') {
      if (round !== undefined) continue
      const waiting = message.calls.filter(({ arguments: text }) => needsPerson(text))
      const calls = waiting.map(({ ordinal }) => ({
        key: callKey(message, ordinal),
        ordinal,
        outcome: undefined,
        by: '',
        time: 0,
        at: '',
      }))
      const requested = message.calls.map(({ ordinal }) => ordinal)
      const expiresAt = until.get(key) ?? message.until
      rounds.set(key, {
        calls,
        requested,
        withdrawn: [],
        expiresAt,
        time: record.time,
        at: addressOf(record),
      })
      continue
    }
    if (round === undefined) continue
    const time = Math.max(round.time, record.time)
    if (message.type === 'tick' && time < round.expiresAt) continue
    round.time = time
    const decide = (isMeant: (ordinal: number) => boolean, outcome: ApprovalOutcome, by = '') => {
      for (const call of round.calls)
        if (call.outcome === undefined && isMeant(call.ordinal))
          Object.assign(call, { outcome, by, time, at: addressOf(record) })
    }
    if (time >= round.expiresAt) decide(() => true, 'expired')
    if (message.type === 'approval-answered')
      decide(
        (ordinal) => ordinal === message.ordinal,
        message.answer === 'allow' ? 'allow' : 'deny',
        message.by,
      )
    if (message.type === 'approval-withdrawn') {
      round.withdrawn.push(...message.calls.map(({ ordinal }) => ordinal))
      decide((ordinal) => message.calls.some((call) => call.ordinal === ordinal), 'withdrawn')
    }
  }
  return rounds
}

/** Keeps the rule of approvers.ts. A call with unreadable arguments waits. */
function needsPerson(text: string): boolean {
  try {
    const { risk } = JSON.parse(text) as { risk?: string }
    return risk?.includes('person') ?? false
  } catch {
    return true
  }
}

/** Every call that the rule names had a request for approval, and no other call did. */
function requests(rounds: Map<string, Round>, evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const pending = new Map(
    recordsOf(evidence, 'approval-pending').map((record) => [roundKey(record.message), record]),
  )
  for (const [key, { calls, expiresAt, at }] of rounds) {
    const record = pending.get(key)
    pending.delete(key)
    const shown = (record?.message.calls ?? []).map(({ ordinal }) => ordinal)
    const named = calls.map(({ ordinal }) => ordinal)
    if (`${shown}` !== `${named}`)
      findings.push({
        problem: `for ${key} people saw requests for [${shown}], and the rule names [${named}]`,
        at,
      })
    for (const { outcome, ordinal } of calls)
      if (outcome === undefined)
        findings.push({
          problem: `call ${ordinal} of ${key} waits for ever; it should have expired at ${expiresAt}`,
          at,
        })
  }
  for (const [key, record] of pending)
    findings.push({
      problem: `people saw a request for ${key} without an approval-asked`,
      at: addressOf(record),
    })
  return findings
}

/** The stage reported each outcome to clients, and each decision's sender got the same one. */
function decisionReports(calls: Map<string, Waiting>, evidence: Decided): Finding[] {
  const findings: Finding[] = []
  const reported = new Set<string>()
  for (const record of recordsOf(evidence, 'approval-decided')) {
    const { message } = record
    const key = callKey(message, message.ordinal)
    const call = calls.get(key)
    const report = (problem: string) =>
      findings.push({ problem: `${key} ${problem}`, at: addressOf(record) })
    if (reported.has(key)) report('is decided a second time')
    reported.add(key)
    if (message.outcome !== call?.outcome || message.by !== call.by)
      report(
        `is reported as ${message.outcome} by '${message.by}', and the log requires ${call?.outcome} by '${call?.by}'`,
      )
  }
  for (const { key, outcome, at } of calls.values())
    if (outcome !== undefined && !reported.has(key))
      findings.push({ problem: `${key} is ${outcome}, and no client was notified`, at })
  for (const { call: key, by, counted } of evidence.decisions) {
    const call = calls.get(key)
    const counts = call?.by === by
    if (counted !== undefined && counted !== counts)
      findings.push({
        problem: `the reply to ${by} is that the decision on ${key} ${counted ? 'counts' : 'does not count'}, and by the log it does${counts ? '' : ' not'}`,
        at: call?.at,
      })
  }
  return findings
}

function verdicts(rounds: Map<string, Round>, evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const answered = new Set<string>()
  for (const record of recordsOf(evidence, 'guard-verdict')) {
    if (record.topic !== 'guard-verdicts.approval') continue
    const key = roundKey(record.message)
    const round = rounds.get(key)
    const report = (problem: string) =>
      findings.push({ problem: `the verdict on ${key} ${problem}`, at: addressOf(record) })
    if (answered.has(key)) report('is given a second time')
    answered.add(key)
    const given = record.message.verdicts.map(
      ({ ordinal, verdict, code }) => `${ordinal} ${outcomeOf(verdict, code)}`,
    )
    const expected = round?.requested.map(
      (ordinal) =>
        `${ordinal} ${round.calls.find((call) => call.ordinal === ordinal)?.outcome ?? 'allow'}`,
    )
    if (`${given}` !== `${expected}`) report(`is [${given}], and by the log [${expected}]`)
  }
  for (const [key, { requested, withdrawn, at }] of rounds)
    if (!answered.has(key) && requested.some((ordinal) => !withdrawn.includes(ordinal)))
      findings.push({ problem: `${key} waited for people and got no verdict`, at })
  return findings
}

function outcomeOf(verdict: CallVerdict['verdict'], code: string): string {
  if (verdict === 'allow') return 'allow'
  return code === 'approval.denied' ? 'deny' : code.replace('approval.', '')
}

function started(calls: Map<string, Waiting>, { starts }: Evidence): Finding[] {
  return starts.flatMap(({ call: key, at: startedAt }) => {
    const call = calls.get(key)
    if (call === undefined || (call.outcome === 'allow' && startedAt >= call.time)) return []
    return [
      {
        problem: `${key} started at ${startedAt}, and was ${call.outcome ?? 'never decided'} at ${call.time}`,
        at: call.at,
      },
    ]
  })
}
