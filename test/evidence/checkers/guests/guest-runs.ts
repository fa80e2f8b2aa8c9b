// R6: a guest runs a call once, and only after the log has the verdict `allow` on it. A call is known
// by its unique mark, or by the key of its round. The log judges a call with a mark in one place, and
// its result is the text of the guest. No guard that enforces has rejected it. No executor starts the
// call of a guest.

import type { GuestCallVerdict } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  type GuestRun,
  recordsOf,
} from '../../evidence.ts'
import { findDeniedStarts } from '../guards/denied-never-start.ts'
import { type GuestCall, guestCalls, isGuestRecord } from './guest-calls.ts'
import { guestFacts } from './guest-facts.ts'

export const guestRuns: Checker = {
  name: 'guest-runs',
  rule: 'A guest runs a call once, and only after the log allows it.',
  needs: [],
  check(evidence) {
    const calls = guestCalls(evidence)
    const verdicts = verdictsIn(evidence)
    const runs = evidence.guestRuns.flatMap((run) =>
      'mark' in run.call ? [{ ...run, mark: run.call.mark }] : [],
    )
    const findings: Finding[] = []
    for (const [mark, places] of calls)
      if (places.length > 1)
        findings.push({
          problem: `the call ${mark} is judged ${places.length} times: ${places.map(({ key }) => key)}`,
          at: places[1] && addressOf(places[1].round),
        })
    for (const [mark, again] of Map.groupBy(runs, (run) => run.mark)) {
      const call = calls.get(mark)?.[0]
      const problems = [
        again.length > 1 ? `ran ${again.length} times` : undefined,
        call === undefined
          ? 'ran and is not in the log'
          : unallowed(again[0] as GuestRun, verdicts.get(call.key) ?? []),
      ]
      for (const problem of problems)
        if (problem !== undefined)
          findings.push({
            problem: `the call ${mark} ${problem}`,
            at: call && addressOf(call.round),
          })
    }
    return [
      ...findings,
      ...keyedRuns(evidence, verdicts),
      ...results(evidence, runs, calls),
      ...startsOfWeir(evidence),
      ...rejected(evidence, runs, calls),
    ]
  },
}

type MarkedRun = GuestRun & { mark: string }

type Verdict = Pick<GuestCallVerdict, 'verdict'> & { time: number }

/** In the order of the log, by callKey. */
function verdictsIn(evidence: Evidence): Map<string, Verdict[]> {
  const verdicts = new Map<string, Verdict[]>()
  for (const { message, time } of recordsOf(evidence, 'guest-verdicts'))
    for (const { ordinal, verdict } of message.calls) {
      const key = callKey(message, ordinal)
      verdicts.set(key, [...(verdicts.get(key) ?? []), { verdict, time }])
    }
  return verdicts
}

/** The broker and the guests share one clock. */
function unallowed({ at }: GuestRun, verdicts: readonly Verdict[]): string | undefined {
  const first = verdicts.find(({ verdict }) => verdict === 'allow')
  if (first === undefined) return 'ran without a verdict'
  if (first.time > at) return `ran ${first.time - at} ms before its verdict`
  const [newest] = verdicts.filter(({ time }) => time <= at).slice(-1)
  return newest?.verdict === 'deny' ? 'ran although its newest verdict was refuse' : undefined
}

/**
 * The same for a blocking front, by the key of the round. The call may be over, if the offer and the
 * outcome came in one step.
 */
function keyedRuns(evidence: Evidence, verdicts: ReadonlyMap<string, Verdict[]>): Finding[] {
  const facts = guestFacts(evidence)
  return evidence.guestRuns.flatMap((run) => {
    if ('mark' in run.call || !run.call.isJudged) return []
    const { turnKey, key = '', ordinal } = run.call
    const isAllowed = facts
      .roundsOf({ conversation: run.conversation, turnKey, key })
      .some(({ message }) =>
        verdicts
          .get(callKey(message, ordinal))
          ?.some(({ verdict, time }) => verdict === 'allow' && time <= run.at),
      )
    if (isAllowed) return []
    return [{ problem: `a call ran without a verdict on its round: ${JSON.stringify(run)}` }]
  })
}

/** A call that ran has its own text or an unknown outcome. A call that did not run is never ok. */
function results(
  evidence: Evidence,
  marked: MarkedRun[],
  calls: ReadonlyMap<string, GuestCall[]>,
): Finding[] {
  const runs = new Map(marked.map((run) => [run.mark, run]))
  const marks = new Map([...calls].flatMap(([mark, all]) => all.map(({ key }) => [key, mark])))
  return recordsOf(evidence, 'round-outcome').flatMap((record) =>
    record.message.results.flatMap(({ ordinal, status, text }): Finding[] => {
      const mark = marks.get(callKey(record.message, ordinal))
      if (mark === undefined) return []
      const run = runs.get(mark)
      const isTrue =
        run === undefined
          ? status !== 'ok'
          : status === 'unknown' || (status === 'ok' && text === run.text)
      if (isTrue) return []
      const fact = run === undefined ? 'did not run' : 'ran'
      const problem = `the call ${mark} ${fact}, and its result is ${status}: ${text.slice(0, 100)}`
      return [{ problem, at: addressOf(record) }]
    }),
  )
}

function startsOfWeir({ starts }: Evidence): Finding[] {
  return starts
    .filter(({ call }) => isGuestRecord({ key: (JSON.parse(call) as [string])[0] }))
    .map(({ call, process }) => ({
      problem: `${call} is a guest's call, and ${process} started it`,
    }))
}

/** A run of a guest counts as a start. */
function rejected(
  evidence: Evidence,
  marked: MarkedRun[],
  calls: ReadonlyMap<string, GuestCall[]>,
): Finding[] {
  const starts = marked.flatMap(({ mark, at }) =>
    (calls.get(mark) ?? []).map(({ key }) => ({
      call: key,
      tool: 'note',
      process: 'a guest',
      start: mark,
      at,
    })),
  )
  return findDeniedStarts({ ...evidence, starts })
}
