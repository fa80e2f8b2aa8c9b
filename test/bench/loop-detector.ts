// The cost of the loop-detector: records per second over turns of ordinary work, and one judged
// round early and late in a turn. The memory of all earlier rounds must not slow it down. The
// baseline is the least work of any judgement: parsing the arguments, and hashing call and result
// once.
//
// CPU time of the process, so other programs of the machine do not count.
//
// Not measured: reading, decoding and writing the records, and a cold start: the first laps only
// warm up. Arguments and results are short. A long one costs in proportion to its length, and the
// row of 64 KiB shows how much.

import { hash } from 'node:crypto'
import { loopDetector, type Turn } from '../../services/loop-detector/reducer.ts'
import { defaultPolicy } from '../../shared/agents/policy/policy.ts'
import { readArguments } from '../../shared/contract/identity/arguments.ts'
import type { RoundChecked, RoundExecuted } from '../../shared/contract/messages.ts'
import { callWith, declarationWith, responseWith, resultWith } from '../support/messages.ts'
import type { Row } from './row.ts'

const laps = 15
/**
 * Rounds measured around the one in a row's name, and the number of short turns for them. Two long
 * turns are enough.
 */
const window = 10
const turns = 20

/** All rows of the loop-detector. */
export function benchLoopDetector(): Row[] {
  const short = (n: number) => `3 matches in module ${n}, 12.${n} ms`
  const long = (n: number) => `${short(n)}\n`.repeat(65_536 / (short(n).length + 1))
  const bareNs = median(() => {
    const begun = process.cpuUsage()
    for (let n = 0; n < 1_000; n += 1) {
      JSON.parse(argumentsOf(n))
      hash('sha256', argumentsOf(n))
      hash('sha256', short(n))
    }
    return nsSince(begun) / 1_000
  })
  const baseline = 'JSON.parse and two sha-256'
  const at = (round: number, result: (n: number) => string) => {
    const story = Array.from({ length: round + window / 2 }, (_, i) => roundOf(i + 1, result))
    return median(() => nsOfRounds(story))
  }
  const late = at(1_000, short)
  const early = at(10, short)
  const perTurnNs = median(() => nsOfTurn(20, short))
  return [
    {
      name: 'loop-detector: turns of 20 rounds, a call each',
      value: (41 * 1e9) / perTurnNs,
      unit: 'records/s',
    },
    {
      name: 'loop-detector: a judged round at round 10',
      value: early / 1e3,
      unit: 'µs',
      baseline,
      ratio: early / bareNs,
    },
    {
      name: 'loop-detector: a judged round at round 1,000',
      value: late / 1e3,
      unit: 'µs',
      baseline: 'at round 10',
      ratio: late / early,
    },
    {
      name: 'loop-detector: a judged round with a result of 64 KiB',
      value: at(10, long) / 1e3,
      unit: 'µs',
    },
    ...canonicalRows(),
  ]
}

/** The cost has to stay linear: the larger text has sixteen times the members. */
function canonicalRows(): Row[] {
  const nsPerKiB = (kibibytes: number) => {
    const members = Array.from({ length: kibibytes * 16 }, (_, n) => [
      `member ${n * 7919}`,
      ` a  text of 30 characters, ${n} `,
    ])
    const raw = JSON.stringify(Object.fromEntries(members))
    return median(() => {
      const begun = process.cpuUsage()
      for (let times = 0; times < 256 / kibibytes; times += 1) readArguments(raw)
      return nsSince(begun) / 256
    })
  }
  const small = nsPerKiB(16)
  const large = nsPerKiB(256)
  return [
    { name: 'canonical arguments, 16 KiB: a KiB', value: small / 1e3, unit: 'µs' },
    {
      name: 'canonical arguments, 256 KiB: a KiB',
      value: large / 1e3,
      unit: 'µs',
      baseline: 'of 16 KiB',
      ratio: large / small,
    },
  ]
}

const place = { conversation: 'c', turn: 1 }
const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
const declarations = ['search', 'edit_file'].map((name) => declarationWith({ name, timeoutMs: 1 }))

function argumentsOf(n: number): string {
  return JSON.stringify({
    path: `src/module-${n}.ts`,
    pattern: 'needle',
    options: { context: 3, ignoreCase: true },
  })
}

/** Ordinary work: new searches, one in five fails in a new way, one in seven makes a change. */
function roundOf(n: number, result: (n: number) => string): [RoundChecked, RoundExecuted] {
  const isError = n % 5 === 0
  const text = result(n)
  const calls = [callWith({ name: n % 7 === 0 ? 'edit_file' : 'search', raw: argumentsOf(n) })]
  return [
    {
      type: 'round-checked',
      ...place,
      round: n,
      response: responseWith({ calls, finish: 'tool_use', usage }),
      failure: null,
      denials: [],
      declarations,
      agent: 'a',
      policy: defaultPolicy,
      callsLeft: 1,
      expiresAt: Number.MAX_SAFE_INTEGER,
    },
    {
      type: 'round-executed',
      wishes: [],
      ...place,
      round: n,
      results: [
        resultWith({
          status: isError ? 'error' : 'ok',
          text,
          reason: isError ? `the module ${n} has no such needle` : '',
        }),
      ],
    },
  ]
}

/** Nanoseconds of each of the story's last rounds, both records together. */
function nsOfRounds(story: [RoundChecked, RoundExecuted][]): number {
  const before = story.slice(0, -window).flat()
  const measured = story.slice(-window).flat()
  const states = Array.from({ length: before.length > 100 ? 2 : turns }, () =>
    folded(before, undefined),
  )
  const begun = process.cpuUsage()
  for (const state of states)
    if (folded(measured, state) === undefined) throw new Error('the bench has no verdict')
  return nsSince(begun) / (window * states.length)
}

function nsOfTurn(rounds: number, result: (n: number) => string): number {
  const story = [
    ...Array.from({ length: rounds }, (_, i) => roundOf(i + 1, result)).flat(),
    { type: 'turn-ended' as const, ...place },
  ]
  const begun = process.cpuUsage()
  for (let i = 0; i < 20; i += 1) folded(story, undefined)
  return nsSince(begun) / 20
}

function folded(
  records: Parameters<typeof loopDetector.react>[1]['message'][],
  from: Turn | undefined,
): Turn | undefined {
  let state = from
  for (const [offset, message] of records.entries()) {
    loopDetector.unit(message)
    state = loopDetector.react(state, { message, offset, previous: undefined, time: 0 }).state
  }
  return state
}

/** Of CPU time. */
function nsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun)
  return (user + system) * 1_000
}

/** The median of some laps, after some to warm up. */
function median(lap: () => number): number {
  for (let i = 0; i < laps; i += 1) lap()
  return Array.from({ length: laps }, lap).sort((a, b) => a - b)[laps >> 1] ?? 0
}

if (import.meta.main) console.table(benchLoopDetector())
