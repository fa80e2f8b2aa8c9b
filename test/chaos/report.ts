// The numbers of a run and its violations, with addresses.

import { startsInStops } from '../evidence/checkers/calls/no-start-after-stop.ts'
import { explainUnknowns } from '../evidence/checkers/calls/unknown-explained.ts'
import { roundsOf } from '../evidence/checkers/guards/approvals.ts'
import { isGuestRecord, withRecords } from '../evidence/checkers/guests/guest-calls.ts'
import { mostAtOnce } from '../evidence/checkers/guests/guest-trees.ts'
import { reservationsIn } from '../evidence/checkers/turns/budget-kept.ts'
import { messagesIn } from '../evidence/checkers/turns/messages-end.ts'
import { mostOf } from '../evidence/checkers/turns/provider-limits.ts'
import {
  addressOf,
  type Evidence,
  recordsOf,
  turnKey,
  type Violation,
} from '../evidence/evidence.ts'
import type { Inflicted } from './faults.ts'
import { guardLines } from './guard-report.ts'
import { type GuardChange, onceGuard } from './guard-world.ts'
import type { LineKind } from './log-lines.ts'
import type { FaultKind } from './plan.ts'
import type { ReplayResult } from './replay.ts'

export type RunFacts = {
  inflicted: Inflicted[]
  planned: Partial<Record<FaultKind, number>>
  processStarts: number
  guardChanges: GuardChange[]
  repeats: number
  guestRepeats: number
  toolsEnded: number
  /** The output of `weir replay` for the topics. */
  replayed: Pick<ReplayResult, 'turns' | 'decisions'>
  trouble: LineKind[]
  /** Milliseconds of each part of the run. */
  times: Record<string, number>
}

const violationsShown = 40
const linesShown = 25

export function report(evidence: Evidence, violations: Violation[], facts: RunFacts): string {
  return [
    ...counts(evidence, facts),
    'lines of the logs at error and above:',
    ...(facts.trouble.length === 0 ? ['  none'] : []),
    ...facts.trouble
      .slice(0, linesShown)
      .map(({ level, text, count }) => `  ${count} x ${level}: ${text}`),
    `violations: ${violations.length}`,
    ...violations
      .slice(0, violationsShown)
      .map(
        ({ checker, problem, at }) =>
          `  VIOLATED ${checker}: ${problem}${at === undefined ? '' : ` (at ${at})`}`,
      ),
    ...(violations.length > violationsShown
      ? [`  and ${violations.length - violationsShown} more`]
      : []),
  ].join('\n')
}

function counts(all: Evidence, facts: RunFacts): string[] {
  const evidence = withRecords(all, { ofGuests: false })
  const { sent } = evidence
  const { records } = all
  const finished = recordsOf(evidence, 'turn-finished')
  const results = recordsOf(evidence, 'round-outcome').flatMap(({ message }) => message.results)
  const seen = new Set<string>()
  const repeats = records.filter(
    ({ id }) => id !== undefined && seen.size === seen.add(id).size,
  ).length
  const bothTwice =
    messagesIn(evidence).length -
    new Set(
      messagesIn(evidence).map(({ message }) => `${message.conversation}/${message.messageId}`),
    ).size
  return [
    `messages sent: ${sent.length}, repeats of clients in the log: ${bothTwice}, sent again: ${facts.repeats}`,
    `turns: ${tally(finished.map(({ message }) => message.outcome))}`,
    `rounds: ${recordsOf(evidence, 'round-outcome').length}`,
    providerLine(evidence),
    `calls: ${tally(results.map(({ status }) => status))}; tools started: ${evidence.starts.length}, ended: ${facts.toolsEnded}`,
    `unknown outcomes explained by: ${tally(explainUnknowns(evidence).map(({ why }) => why ?? 'NOTHING'))}`,
    `records: ${records.length} (${tally(records.map(({ topic }) => topic))}), repeats of derived ones: ${repeats}`,
    `encrypted with a key of: ${tally(records.map(({ encryptedWith }) => encryptedWith ?? 'nobody'))}; records that show content: ${records.filter(({ showsContent }) => showsContent === true).length}`,
    `replayed: ${facts.replayed.turns} turns, ${facts.replayed.decisions} decisions the same again`,
    guestLine(all, facts),
    ...guardLines(evidence, facts.guardChanges),
    approvalLine(evidence),
    onceLine(evidence),
    stopLine(evidence),
    budgetLine(all),
    `faults (hit of planned): ${tallyFaults(facts)}`,
    ...facts.inflicted
      .filter(({ hit }) => !hit)
      .map(({ kind, detail }) => `  did not hit: ${kind}, ${detail}`),
    `processes started: ${facts.processStarts}, exited without a fault: ${evidence.exits?.length}`,
    `timers were late by ${evidence.timersLateMs} ms at most, without the latest hundredth`,
    slowest(evidence),
    `seconds: ${Object.entries(facts.times)
      .map(([part, ms]) => `${part} ${(ms / 1000).toFixed(1)}`)
      .join(', ')}`,
  ]
}

function providerLine({ provider }: Evidence): string {
  if (provider === undefined) return 'no request to the provider was counted'
  const { requests, limits } = provider
  const most = mostOf(provider)
  const refused = requests.filter(({ waitMs }) => waitMs !== undefined).length
  return `requests to the provider: ${requests.length}, most at once ${most.atOnce} of ${limits.requestsAtOnce}, most in a minute ${most.perMinute} of ${limits.requestsPerMinute}, refused with a wait: ${refused}`
}

function guestLine(evidence: Evidence, { guestRepeats }: RunFacts): string {
  const { guestRuns: runs, guestAdvice: asked = [] } = evidence
  const outcomes = recordsOf(evidence, 'round-outcome').filter(isGuestRecord)
  const results = outcomes.flatMap(({ message }) => message.results.map(({ status }) => status))
  const advice = asked.map(({ action, judged }) => (judged ? action : 'unjudged'))
  return `guests: ${asked.length} requests (${tally(advice)}), ${outcomes.length} rounds, calls: ${tally(results)}; ran: ${runs.length}, requests sent again: ${guestRepeats}; ${treesOf(evidence)}`
}

function treesOf({ guestTrees, records }: Evidence): string {
  if (guestTrees === undefined) return 'no sub-agents'
  const trees = [...Map.groupBy(guestTrees.children, ({ root }) => root).values()]
  const most = Math.max(0, ...trees.map(mostAtOnce))
  const places = records.filter(
    ({ message }) => message?.type === 'budget-reserved' && message.children > 0,
  ).length
  return `sub-agents: ${guestTrees.children.length} in ${trees.length} trees, most at once ${most}, places wanted: ${places}`
}

function approvalLine(evidence: Evidence): string {
  const { decisions = [] } = evidence
  const calls = [...roundsOf(evidence).values()].flatMap((round) => round.calls)
  const counted = decisions.filter(({ call, by }) =>
    calls.some((one) => one.key === call && one.by === by),
  ).length
  return `calls that needed a person: ${tally(calls.map(({ outcome }) => outcome ?? 'OPEN'))}; people decided ${decisions.length} times, ${counted} of them first and in time`
}

function onceLine(evidence: Evidence): string {
  const calls = recordsOf(evidence, 'call-finished').filter(({ message }) =>
    onceGuard.tools.includes(message.name),
  )
  const denied = calls.filter(({ message }) => message.guard === onceGuard.name)
  return `calls of tools that must not run twice: ${tally(calls.map(({ message }) => message.status))}; denied by once: ${tally(denied.map(({ message }) => message.reason.replace(/ \(.*/, '')))}`
}

function stopLine(evidence: Evidence): string {
  const stops = recordsOf(evidence, 'operator-stop').length
  const ages = startsInStops(evidence).map(({ ageMs }) => ageMs)
  const refused = recordsOf(evidence, 'calls-stopped').flatMap(({ message }) => message.ordinals)
  return `stops: ${stops}, calls named by them: ${refused.length}, starts behind their records: ${ages.length}, the last one ${Math.max(0, ...ages)} ms`
}

function budgetLine(all: Evidence): string {
  const { granted, refused } = reservationsIn(all)
  const turns = recordsOf(all, 'turn-finished').filter(({ message }) => message.class === 'budget')
  return `reservations under budgets: ${granted} granted, ${refused} refused; turns that they ended: ${turns.length}`
}

function tallyFaults({ inflicted, planned }: RunFacts): string {
  return Object.entries(planned)
    .map(
      ([kind, count]) =>
        `${kind} ${inflicted.filter((one) => one.kind === kind && one.hit).length} of ${count}`,
    )
    .join(', ')
}

function slowest(evidence: Evidence): string {
  const began = new Map(
    recordsOf(evidence, 'turn-started').map((record) => [turnKey(record.message), record]),
  )
  const turns = recordsOf(evidence, 'turn-finished').flatMap((record) => {
    const start = began.get(turnKey(record.message))
    return start === undefined
      ? []
      : [
          {
            ms: record.time - start.time,
            at: addressOf(start),
            turn: turnKey(record.message),
            outcome: record.message.outcome,
          },
        ]
  })
  const sorted = turns.sort((a, b) => a.ms - b.ms)
  const [median, last] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  if (median === undefined || last === undefined) return 'no turn was finished'
  return `duration of turns: ${median.ms} ms (median); the slowest ${last.ms} ms: ${last.turn}, ${last.outcome}, began at ${last.at}`
}

function tally(words: string[]): string {
  const groups = [...Map.groupBy(words, (word) => word)].sort(([, a], [, b]) => b.length - a.length)
  return groups.length === 0
    ? 'none'
    : groups.map(([word, all]) => `${word} ${all.length}`).join(', ')
}
