// R5: each call of a model ends in exactly one result. One round-outcome and one history entry
// contain it and agree. The executor reports a call once, as the accepted claims require.

import type { CallResult } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  recordsOf,
  roundKey,
  turnKey,
} from '../../evidence.ts'
import { clearedCalls } from '../calls/claims.ts'

export const oneResultPerCall: Checker = {
  name: 'one-result-per-call',
  rule: 'Each call of a model ends in exactly one result, which its claims require.',
  needs: [],
  check(evidence) {
    return [...outcomes(evidence), ...history(evidence), ...executed(evidence)]
  },
}

function outcomes(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const found = Map.groupBy(recordsOf(evidence, 'round-outcome'), ({ message }) =>
    roundKey(message),
  )
  for (const [round, records] of found) {
    for (const record of records.slice(1))
      findings.push({ problem: `${round} has a further round-outcome`, at: addressOf(record) })
    for (const record of records) {
      const { response, results } = record.message
      if (!isPaired(response.calls, results))
        findings.push({
          problem: `${round} has the calls ${ordinals(response.calls)} and results of ${ordinals(results)}`,
          at: addressOf(record),
        })
    }
  }
  // A turn that failed may end without the outcome of its round (R8).
  const failed = new Set(
    recordsOf(evidence, 'turn-failed').map(({ message: { conversation, turn } }) =>
      turnKey({ conversation, turn: turn ?? -1 }),
    ),
  )
  for (const record of recordsOf(evidence, 'round-proposed'))
    if (
      record.message.response.calls.length > 0 &&
      !found.has(roundKey(record.message)) &&
      !failed.has(turnKey(record.message))
    )
      findings.push({
        problem: `${roundKey(record.message)} has calls and no round-outcome`,
        at: addressOf(record),
      })
  return findings
}

/**
 * One entry for each begun round, with a result for each call. The results are those of the
 * round-outcome if the conversation still waited for it.
 */
function history(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const outcomes = new Map(
    recordsOf(evidence, 'round-outcome').map(({ message }) => [roundKey(message), message]),
  )
  const entries = Map.groupBy(recordsOf(evidence, 'history-entry'), ({ message }) =>
    roundKey(message),
  )
  for (const [round, records] of entries) {
    for (const record of records.slice(1))
      findings.push({ problem: `${round} has a further history entry`, at: addressOf(record) })
    for (const record of records) {
      const { response, results } = record.message
      const report = (problem: string) =>
        findings.push({ problem: `the history entry ${round} ${problem}`, at: addressOf(record) })
      if (!isPaired(response?.calls ?? [], results))
        report(
          `has the calls ${ordinals(response?.calls ?? [])} and results of ${ordinals(results)}`,
        )
      const outcome = outcomes.get(round)
      if (
        outcome !== undefined &&
        response !== null &&
        response.calls.length > 0 &&
        statuses(outcome.results) !== statuses(results)
      )
        report(`has ${statuses(results)}, its round-outcome has ${statuses(outcome.results)}`)
    }
  }
  for (const record of recordsOf(evidence, 'round-started'))
    if (!entries.has(roundKey(record.message)))
      findings.push({
        problem: `${roundKey(record.message)} was begun and is not in the history`,
        at: addressOf(record),
      })
  return findings
}

function executed(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const calls = clearedCalls(evidence)
  const seen = new Set<string>()
  for (const record of recordsOf(evidence, 'round-executed')) {
    for (const { ordinal, status } of record.message.results) {
      const key = callKey(record.message, ordinal)
      const report = (problem: string) =>
        findings.push({ problem: `${key} ${problem}`, at: addressOf(record) })
      if (seen.has(key)) report('has a second result of the executor')
      seen.add(key)
      const call = calls.get(key)
      if (call === undefined) report(`was never cleared and has the result ${status}`)
      else if (call.ending !== status)
        report(`has the result ${status}, and its claims lead to ${call.ending}`)
    }
  }
  const finished = Map.groupBy(recordsOf(evidence, 'call-finished'), ({ message }) =>
    callKey(message, message.ordinal),
  )
  for (const [key, records] of finished)
    if (records.length > 1)
      findings.push({
        problem: `${key} is reported as finished ${records.length} times`,
        at: records[1] && addressOf(records[1]),
      })
  return findings
}

function isPaired(calls: { ordinal: number }[], results: CallResult[]): boolean {
  const answered = new Set(results.map(({ ordinal }) => ordinal))
  return (
    results.length === calls.length &&
    answered.size === calls.length &&
    calls.every(({ ordinal }) => answered.has(ordinal))
  )
}

function ordinals(all: { ordinal: number }[]): string {
  return `[${all.map(({ ordinal }) => ordinal)}]`
}

function statuses(results: CallResult[]): string {
  return results
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map(({ ordinal, status }) => `${ordinal} ${status}`)
    .join(', ')
}
