// The faults of a seed: their kinds, their probabilities, and the counts of real hits.

import type { Random } from './random.ts'

export const faultKinds = [
  /** A write lands twice in a row. */
  'duplicate',
  /** One record of a write lands again, at once. */
  'duplicate-record',
  /** A write, or one record of it, lands again much later, perhaps after its writer has ended. */
  'delayed-copy',
  /** The write landed without an acknowledgement, so the writer writes again. */
  'lost-acknowledgement',
  /** The write did not land, and is repeated. */
  'lost-request',
  /** The write, or its acknowledgement, is seconds late. */
  'slow-write',
  /** The bus gives up: the writer gets an error. The write landed or not. */
  'write-error',
  /**
   * A process dies at a critical moment: before, between and after writes, before the commit, right
   * after a tool's start.
   */
  'crash',
  /** A process pauses at such a moment, long enough to lose its partitions. Its clocks go on. */
  'pause',
  /** The same, but its machine sleeps: the monotonic clock stops too. */
  'suspend',
  /** A partition moves from a live owner, with a late notice: two owners act at once. */
  'split',
  /** A partition moves, and its owner closes it first. */
  'rebalance',
  /** A process shuts down in order, and another one starts. */
  'restart',
  /** A former owner's commit is accepted, although older. */
  'stale-commit',
  /** The commit does not arrive. */
  'lost-commit',
  'slow-reader',
  /** Reads of tables lag seconds after. */
  'table-lag',
  /** A process's wall clock jumps. */
  'clock-step',
] as const

export type FaultKind = (typeof faultKinds)[number]

export type FaultRates = Record<FaultKind, number>

export type Faults = {
  /** Rolls the dice for one opportunity, `weight` times as likely as usual, and counts a hit. */
  strikes(kind: FaultKind, weight?: number): boolean
  /** Ends all faults. */
  end(): void
  readonly over: boolean
  readonly rates: FaultRates
  readonly counts: ReadonlyMap<FaultKind, number>
}

/**
 * The maximum count of a kind in one seed: processes that restart all the time would prove nothing.
 */
const strikesMax: Partial<FaultRates> = {
  crash: 10,
  pause: 10,
  suspend: 5,
  split: 8,
  rebalance: 8,
  restart: 4,
  'write-error': 6,
  'delayed-copy': 60,
  'clock-step': 6,
}

/** The probability of each kind per opportunity, at the usual weather. */
const usual: FaultRates = {
  duplicate: 0.05,
  'duplicate-record': 0.05,
  'delayed-copy': 0.04,
  'lost-acknowledgement': 0.03,
  'lost-request': 0.03,
  'slow-write': 0.03,
  'write-error': 0.004,
  crash: 0.003,
  pause: 0.003,
  suspend: 0.001,
  split: 0.1,
  rebalance: 0.1,
  restart: 0.05,
  'stale-commit': 0.5,
  'lost-commit': 0.1,
  'slow-reader': 0.02,
  'table-lag': 0.1,
  'clock-step': 0.05,
}

/** Every tenth seed has no fault at all; each other one has its own mixture. */
export function rollRates(random: Random): FaultRates {
  const calm = random.chance(0.1)
  const weather = random.pick([0.3, 1, 1, 2, 4])
  const rate = (kind: FaultKind): number =>
    calm || random.chance(0.35) ? 0 : Math.min(0.5, usual[kind] * weather * (0.5 + random.unit()))
  const rates = Object.fromEntries(faultKinds.map((kind) => [kind, rate(kind)])) as FaultRates
  // An owner checks two clocks before it starts a tool. Sleep during a jump back of the wall clock
  // defeats both. That combination is excluded.
  rates[random.chance(0.5) ? 'suspend' : 'clock-step'] = 0
  return rates
}

export function createFaults(random: Random, rates: FaultRates): Faults {
  const counts = new Map<FaultKind, number>()
  let over = false
  return {
    strikes(kind, weight = 1) {
      const count = counts.get(kind) ?? 0
      if (
        over ||
        rates[kind] === 0 ||
        count >= (strikesMax[kind] ?? Number.POSITIVE_INFINITY) ||
        !random.chance(rates[kind] * weight)
      )
        return false
      counts.set(kind, count + 1)
      return true
    },
    end() {
      over = true
    },
    get over() {
      return over
    },
    rates,
    counts,
  }
}
