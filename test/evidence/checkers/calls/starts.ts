// R4, R5, R6, by the tools' own records joined with the log. A tool that may not be repeated starts
// at most once, an idempotent one at most toolTries times. Each start has a claim that the log
// accepted, with an owner of that very process. Each start precedes the result of its call. A call
// that was rejected, vetoed or skipped never started. A call reported as successful or running did.

import type { ResultStatus } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  recordsOf,
  type Start,
} from '../../evidence.ts'
import { type ClearedCall, clearedCalls, neverRan } from './claims.ts'
import { processesOfOwners } from './processes-of-owners.ts'

export const starts: Checker = {
  name: 'starts',
  rule: 'A tool starts only under an accepted claim, as often as its declaration allows.',
  needs: [],
  check(evidence) {
    const findings: Finding[] = []
    const calls = clearedCalls(evidence)
    const owners = processesOfOwners(evidence, calls)
    const results = resultsGiven(evidence)
    const startsOf = Map.groupBy(evidence.starts, ({ call }) => call)
    for (const [key, started] of startsOf) {
      const call = calls.get(key)
      const report = (problem: string) =>
        findings.push({ problem: `${key} ${problem}`, at: call?.at })
      if (call === undefined) {
        report(`was started (${describe(started)}) and never cleared`)
        continue
      }
      // A process that ends in order gives the call of an agent back. Its next start waits for the same turn.
      const goOn = call.claims.filter(({ end }) => end.kind === 'goes on')
      const most = (call.idempotent ? call.toolTries : 1) + goOn.length
      if (started.length > most)
        report(
          `(${call.tool}) was started ${started.length} times, at most ${most} were allowed: ${describe(started)}`,
        )
      if (call.decided)
        report(`was started (${describe(started)}), though its result was decided before`)
      findings.push(...withoutClaim(call, started, owners))
      const result = results.get(key)
      for (const { at, process, start } of started) {
        // The request was in flight when the call was aborted. Its result warns of a possible
        // effect.
        const isForetold = result?.status === 'unknown' && start?.startsWith('http-')
        if (result !== undefined && at > result.time && !isForetold)
          report(`was started by ${process} ${at - result.time} ms after its result was given`)
      }
    }
    return [...findings, ...falseResults(evidence, startsOf), ...falseNews(evidence, startsOf)]
  },
}

/** Each accepted claim starts at most one tool, in the process that made the claim. */
function withoutClaim(call: ClearedCall, started: Start[], owners: Map<string, string>): Finding[] {
  const free = call.claims.filter(({ end }) => end.kind !== 'given back')
  return started.flatMap(({ process, at, start }): Finding[] => {
    const fits = free.findIndex(
      ({ owner, time }) => time <= at && (owners.get(owner) ?? process) === process,
    )
    if (fits >= 0) {
      free.splice(fits, 1)
      return []
    }
    const claims = call.claims.map(
      ({ try: number, owner, time, end }) =>
        `try ${number} of ${owners.get(owner) ?? owner} at ${time}, ${end.kind}`,
    )
    return [
      {
        problem: `${call.key} was started by ${process} at ${at} (${start ?? 'no id'}) without a claim of its own; accepted: ${claims.join('; ') || 'none'}`,
        at: call.at,
      },
    ]
  })
}

/** Each result tells the truth about starts. A child that began is never skipped for its parent. */
function falseResults(evidence: Evidence, startsOf: Map<string, Start[]>): Finding[] {
  const findings: Finding[] = []
  const isExact = evidence.startsNotedBy === 'world'
  const ran = new Set<ResultStatus>(isExact ? ['ok', 'timed_out'] : ['ok'])
  const ids = new Set(evidence.starts.map(({ start }) => start))
  for (const record of recordsOf(evidence, 'round-outcome')) {
    for (const { ordinal, status, text } of record.message.results) {
      const key = callKey(record.message, ordinal)
      const started = startsOf.get(key)?.length ?? 0
      const report = (problem: string) =>
        findings.push({ problem: `${key} ${problem}`, at: addressOf(record) })
      if (neverRan.has(status) && started > 0)
        report(`is ${status}, and was started ${started} times`)
      if (ran.has(status) && started === 0) report(`is ${status}, and was never started`)
      if (isExact) continue
      const quoted = /"start":"([^"]+)"/.exec(text)?.[1]
      if (
        status === 'ok' &&
        (quoted === undefined ||
          !ids.has(quoted) ||
          !startsOf.get(key)?.some(({ start }) => start === quoted))
      )
        report(`is ok with the result of another start: ${text.slice(0, 200)}`)
    }
  }
  return findings
}

/**
 * Clients see that a tool runs only when it does (I1.4). A tool that was stopped at once, or that did
 * not load in time, may not have written its start.
 */
function falseNews(evidence: Evidence, startsOf: Map<string, Start[]>): Finding[] {
  const isExact = evidence.startsNotedBy === 'world'
  const ended = new Set(
    recordsOf(evidence, 'round-outcome').flatMap(({ message }) =>
      message.results
        .filter(({ status }) => status !== 'unknown' && (isExact || status !== 'timed_out'))
        .map(({ ordinal }) => callKey(message, ordinal)),
    ),
  )
  return recordsOf(evidence, 'tool-started').flatMap((record) => {
    const key = callKey(record.message, record.message.ordinal)
    return startsOf.has(key) || !ended.has(key)
      ? []
      : [{ problem: `${key} was reported as started, and never started`, at: addressOf(record) }]
  })
}

function resultsGiven(evidence: Evidence): Map<string, { time: number; status: string }> {
  const given = new Map<string, { time: number; status: string }>()
  for (const { message, time } of recordsOf(evidence, 'round-executed'))
    for (const { ordinal, status } of message.results)
      given.set(callKey(message, ordinal), { time, status })
  return given
}

function describe(started: Start[]): string {
  return started.map(({ process, at }) => `by ${process} at ${at}`).join(', ')
}
