// A guest runs a call once, and only after the log has the verdict `run` on it. The log judges the
// call in one place, no executor starts it, and its result is the text of the guest. No guard that
// enforces has rejected it.

import type { GuestCallVerdict } from '../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type GuestRun,
  recordsOf,
  type Violation,
} from '../evidence.ts'
import { type GuestCall, guestCalls, isGuestRecord } from '../guest-calls.ts'
import { rejectedNeverStart } from './denied-never-start.ts'

const checker = 'guest-runs'

export const guestRuns: Checker = {
  name: checker,
  check(evidence) {
    const calls = guestCalls(evidence)
    const verdicts = verdictsIn(evidence)
    const violations: Violation[] = []
    for (const [mark, places] of calls)
      if (places.length > 1)
        violations.push({
          checker,
          problem: `the call ${mark} is judged ${places.length} times: ${places.map(({ key }) => key)}`,
          at: places[1] && addressOf(places[1].round),
        })
    for (const [mark, runs] of Map.groupBy(evidence.guests.runs, (run) => run.mark)) {
      const call = calls.get(mark)?.[0]
      const report = (problem: string) =>
        violations.push({
          checker,
          problem: `the call ${mark} ${problem}`,
          at: call && addressOf(call.round),
        })
      if (runs.length > 1) report(`ran ${runs.length} times`)
      if (call === undefined) report('ran and is not in the log')
      else {
        const problem = unallowed(runs[0] as GuestRun, verdicts.get(call.key) ?? [])
        if (problem !== undefined) report(problem)
      }
    }
    return [
      ...violations,
      ...results(evidence, calls),
      ...startsOfWeir(evidence),
      ...rejected(evidence, calls),
    ]
  },
}

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

/** A call that ran has its own text or an unknown outcome. A call that did not run is never ok. */
function results(evidence: Evidence, calls: ReadonlyMap<string, GuestCall[]>): Violation[] {
  const runs = new Map(evidence.guests.runs.map((run) => [run.mark, run]))
  const marks = new Map([...calls].flatMap(([mark, all]) => all.map(({ key }) => [key, mark])))
  return recordsOf(evidence, 'round-outcome').flatMap((record) =>
    record.message.results.flatMap(({ ordinal, status, text }): Violation[] => {
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
      return [{ checker, problem, at: addressOf(record) }]
    }),
  )
}

function startsOfWeir({ starts }: Evidence): Violation[] {
  return starts
    .filter(({ call }) => isGuestRecord({ key: (JSON.parse(call) as [string])[0] }))
    .map(({ call, process }) => ({
      checker,
      problem: `${call} is a guest's call, and ${process} started it`,
    }))
}

/** A run of a guest counts as a start. */
function rejected(evidence: Evidence, calls: ReadonlyMap<string, GuestCall[]>): Violation[] {
  const starts = evidence.guests.runs.flatMap(({ mark, at }) =>
    (calls.get(mark) ?? []).map(({ key }) => ({
      call: key,
      tool: 'note',
      process: 'a guest',
      start: mark,
      at,
    })),
  )
  return rejectedNeverStart.check({ ...evidence, starts })
}
