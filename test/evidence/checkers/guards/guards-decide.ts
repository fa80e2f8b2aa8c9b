// R5, R6, for calls that wait for guards. Each awaited guard has one verdict that counts, its own
// or the one of on-timeout, unless the call was over before. It is reported once. A veto names its
// guard and carries the guard's text to the model.

import { isDeniedByGuard } from '../../../../shared/contract/call/call.ts'
import type { CallResult } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  recordsOf,
  roundKey,
} from '../../evidence.ts'
import { type ClearedCall, clearedCalls } from '../calls/claims.ts'
import { firstAnswers } from './denied-never-start.ts'

export const guardsDecide: Checker = {
  name: 'guards-decide',
  rule: 'Each awaited guard of a call has one verdict that counts, reported once.',
  needs: [],
  check(evidence) {
    const calls = clearedCalls(evidence)
    return [...verdictReports(evidence, calls), ...vetoes(evidence, calls)]
  },
}

/** Each awaited guard of a round is reported once, with the verdict that counted for each call. */
function verdictReports(evidence: Evidence, calls: Map<string, ClearedCall>): Finding[] {
  const findings: Finding[] = []
  const counted = new Map<string, string[]>()
  for (const { key, counted: verdicts } of calls.values()) {
    const [conversation, turn, round, ordinal] = JSON.parse(key) as [string, number, number, number]
    for (const { guard, answer, verdict } of verdicts) {
      const place = `${guard} ${roundKey({ conversation, turn, round })}`
      counted.set(place, [...(counted.get(place) ?? []), `${answer}: call ${ordinal} ${verdict}`])
    }
  }
  const reported = new Map<string, string[]>()
  for (const record of recordsOf(evidence, 'guard-verdict-given')) {
    const { guard, answer, verdicts } = record.message
    const place = `${guard} ${roundKey(record.message)}`
    const report = (problem: string) =>
      findings.push({ problem: `the verdict of ${place} ${problem}`, at: addressOf(record) })
    if (reported.has(place)) report('is reported a second time')
    const given = verdicts.map(({ ordinal, verdict }) => `${answer}: call ${ordinal} ${verdict}`)
    reported.set(place, given)
    const expected = counted.get(place) ?? []
    if (given.toSorted().join() !== expected.toSorted().join())
      report(`is reported as [${given}], and the log requires [${expected}]`)
  }
  for (const [place, expected] of counted)
    if (!reported.has(place))
      findings.push({ problem: `the verdict of ${place}, [${expected}], is not reported` })
  for (const { key, guards, counted: verdicts, ending, at, isStopped } of calls.values())
    if (
      !isStopped &&
      ending !== undefined &&
      ending !== 'skipped' &&
      ending !== 'denied' &&
      verdicts.length < guards.length
    )
      findings.push({
        problem: `${key} is ${ending}, and of ${guards.map(({ name }) => name)} only ${verdicts.length} let it pass`,
        at,
      })
  return findings
}

/** A call that found its values held in the tenant, right before its start (once-effects.ts). */
function isOfTenant({ guard }: CallResult, call: ClearedCall | undefined): boolean {
  return guard === 'once' && call?.claims.at(-1)?.end.kind === 'reported'
}

function vetoes(evidence: Evidence, calls: Map<string, ClearedCall>): Finding[] {
  const findings: Finding[] = []
  const answers = firstAnswers(evidence)
  for (const record of recordsOf(evidence, 'round-outcome'))
    for (const result of record.message.results) {
      if (result.status !== 'denied') continue
      const key = callKey(record.message, result.ordinal)
      const report = (problem: string) =>
        findings.push({ problem: `${key} ${problem}`, at: addressOf(record) })
      const denial = calls.get(key)?.counted.find(({ verdict }) => verdict === 'deny')
      if (denial === undefined) {
        if (isDeniedByGuard(result) && !isOfTenant(result, calls.get(key)))
          report(`is denied (${result.reason}), and no guard denied it`)
        continue
      }
      if (!names(result, denial.guard))
        report(
          `was denied by guard ${denial.guard}, and its result does not name it: ${result.reason}; ${result.text}`,
        )
      const verdicts = answers.get(denial.guard)?.get(roundKey(record.message))?.message.verdicts
      const text = verdicts?.find(({ ordinal }) => ordinal === result.ordinal)?.text
      if (
        denial.answer === 'verdicts' &&
        (text === undefined || text === '' || !result.text.includes(text))
      )
        report(
          `was denied by guard ${denial.guard} with the text ${JSON.stringify(text)}, and the model reads: ${result.text}`,
        )
    }
  return findings
}

function names({ guard: by, text }: CallResult, guard: string): boolean {
  return by === guard && text.includes(`the guard "${guard}"`)
}
