// The two moments at which a replay judges each round of a guard: a time and a chance. A guard must be
// pure (shared/contract/guard/guard.ts). The verdicts of one that uses time or chance differ between them.
// Both moments depend only on the round, so all replays have the same time and chance.
// A moment lasts for one call of judge. It does not cover results by callback, CPU times,
// performance.mark, other realms (node:vm), keys, primes, signatures and encryption.

import crypto, { createHash } from 'node:crypto'
import os from 'node:os'
import { performance } from 'node:perf_hooks'
import type { GuardedRound } from '../../../shared/contract/guard/guard.ts'
import { roundKey } from '../../../shared/contract/ids.ts'

/** `elapsed`: milliseconds since the process began. `bytes`: random ones. */
export type Moment = { time: number; elapsed: number; bytes(length: number): Buffer }

const secondMs = 1_000
const minuteMs = 60 * secondMs
const apartMs = (465 * 24 + 13) * 60 * minuteMs + 37 * minuteMs + 5_555

/**
 * A time with another year, month, weekday, hour and millisecond. Odd milliseconds, seconds and minutes
 * become even, and even ones odd: a carry takes one more.
 */
export function apart(time: number): number {
  let later = time + apartMs
  for (const unit of [secondMs, minuteMs])
    if ((Math.floor(later / unit) - Math.floor(time / unit)) % 2 === 0) later += unit
  return later
}

/**
 * The first moment is the time when the round was cleared, in a process that has just begun. The
 * second is later, in a process that began in 1970. Each of its random bytes is moved by half, so the
 * rarer side of a bound never comes up in both moments.
 */
export const moments = [{ moved: false }, { moved: true }].map(
  ({ moved }) =>
    (round: GuardedRound): Moment => {
      const time = moved ? apart(round.time) : round.time
      let drawn = 0
      return {
        time,
        elapsed: moved ? Math.ceil(time / 100_000) * 100_000 + 56_555 : 1_000,
        bytes(length) {
          const place = `${roundKey(round)} ${drawn++}`
          const hash = createHash('shake256', { outputLength: length + 1 })
            .update(place)
            .digest()
          return hash.subarray(1).map((byte) => (moved ? byte ^ 128 : byte)) as Buffer
        },
      }
    },
)

/**
 * Replaces the clocks and the chance of the process for good. The result calls `judge` at a moment;
 * outside of such a call, both are real. Modules that imported the functions need
 * syncBuiltinESMExports.
 */
export function holdMoments(): <T>(moment: Moment, judge: () => T) => T {
  let held: Moment | undefined
  holdDates(hold)
  holdTimers(hold)
  holdChance(hold)
  const { timeOrigin } = performance
  Object.defineProperty(performance, 'timeOrigin', {
    configurable: true,
    get: () => (held === undefined ? timeOrigin : held.time - held.elapsed),
  })
  return (moment, judge) => {
    held = moment
    try {
      return judge()
    } finally {
      held = undefined
    }
  }

  function hold(owner: object, name: string, atMoment: AtMoment): void {
    const real: unknown = Reflect.get(owner, name)
    if (typeof real !== 'function') return // older Node.js versions lack some
    function value(this: unknown, ...args: unknown[]): unknown {
      const callReal = (...others: unknown[]) =>
        Reflect.apply(real as () => unknown, this ?? owner, others)
      return held === undefined || typeof args.at(-1) === 'function'
        ? callReal(...args)
        : atMoment(held, args, callReal)
    }
    Object.assign(value, real)
    Object.defineProperty(owner, name, {
      value,
      writable: true,
      configurable: true,
      enumerable: true,
    })
  }
}

/** The result of a function at a moment. `real` checks the arguments. */
type AtMoment = (moment: Moment, args: unknown[], real: (...args: unknown[]) => unknown) => unknown
type Hold = (owner: object, name: string, atMoment: AtMoment) => void

type Zoned = Record<string, () => unknown>
type Instant = { toZonedDateTimeISO(zone: unknown): Zoned }
type Temporal = {
  Instant: { fromEpochMilliseconds(time: number): Instant }
  Now: { timeZoneId(): string }
}

function holdDates(hold: Hold): void {
  const { prototype } = Date
  hold(Date, 'now', ({ time }) => time)
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, made) =>
      Reflect.construct(target, args.length === 0 ? [target.now()] : args, made),
    apply: () => new Date().toString(),
  })
  prototype.constructor = Date

  const format = Intl.DateTimeFormat.prototype
  const partsOf = format.formatToParts
  format.formatToParts = function formatToParts(date = Date.now()) {
    return partsOf.call(this, date)
  }
  Object.defineProperty(format, 'format', {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      return (date: Date) =>
        this.formatToParts(date)
          .map(({ value }) => value)
          .join('')
    },
  })

  const { Temporal } = globalThis as { Temporal?: Temporal } // Node.js has it since version 26
  if (Temporal === undefined) return
  const { Now, Instant } = Temporal
  const zoned = ({ time }: Moment, [zone = Now.timeZoneId()]: unknown[]) =>
    Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone)
  hold(Now, 'instant', ({ time }) => Instant.fromEpochMilliseconds(time))
  hold(Now, 'zonedDateTimeISO', zoned)
  for (const kind of ['DateTime', 'Date', 'Time'])
    hold(Now, `plain${kind}ISO`, (moment, args) => zoned(moment, args)[`toPlain${kind}`]?.())
}

function holdTimers(hold: Hold): void {
  hold(performance, 'now', ({ elapsed }) => elapsed)
  hold(process, 'uptime', ({ elapsed }) => elapsed / 1_000)
  hold(os, 'uptime', ({ elapsed }) => elapsed / 1_000)

  const nanoseconds = ({ elapsed }: Moment) => BigInt(Math.floor(elapsed)) * 1_000_001n // the finer digits differ as the others do
  hold(process, 'hrtime', (moment, [since = [0, 0]]) => {
    const [seconds = 0, rest = 0] = since as number[]
    const elapsed = nanoseconds(moment) - BigInt(seconds) * 1_000_000_000n - BigInt(rest)
    return [Number(elapsed / 1_000_000_000n), Number(elapsed % 1_000_000_000n)]
  })
  hold(process.hrtime, 'bigint', nanoseconds)
}

function holdChance(hold: Hold): void {
  const fraction = ({ bytes }: Moment) => bytes(6).readUIntBE(0, 6) / 2 ** 48
  hold(Math, 'random', fraction)
  hold(crypto, 'randomInt', (moment, args, real) => {
    real(...args)
    const [from = 0, below = 0] = args.length === 1 ? [0, Number(args[0])] : args.map(Number)
    return Math.floor(from + fraction(moment) * (below - from))
  })

  for (const name of ['randomBytes', 'pseudoRandomBytes', 'prng', 'rng'])
    hold(crypto, name, ({ bytes }, args, real) => bytes((real(...args) as Buffer).length))
  const fill: AtMoment = ({ bytes }, args, real) => {
    const filled = real(...args)
    const stretch = stretchOf(...(args as Parameters<typeof stretchOf>))
    stretch.set(bytes(stretch.length))
    return filled
  }
  hold(crypto, 'randomFillSync', fill)
  hold(crypto.webcrypto.constructor.prototype, 'getRandomValues', fill)

  const uuid = ({ bytes, time }: Moment, version: number) => {
    const hex = bytes(16).toString('hex')
    const begin = version === 7 ? Math.floor(time).toString(16).padStart(12, '0') : hex
    return `${begin.slice(0, 8)}-${begin.slice(8, 12)}-${version}${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 30)}`
  }
  hold(crypto, 'randomUUID', (moment) => uuid(moment, 4))
  hold(crypto, 'randomUUIDv7', (moment) => uuid(moment, 7))
  hold(crypto.webcrypto.constructor.prototype, 'randomUUID', (moment) => uuid(moment, 4))
}

/** `offset`, `size`: in elements of the target. */
function stretchOf(target: ArrayBuffer | ArrayBufferView, offset = 0, size?: number): Uint8Array {
  const width = 'BYTES_PER_ELEMENT' in target ? Number(target.BYTES_PER_ELEMENT) : 1
  const whole = ArrayBuffer.isView(target)
    ? new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
    : new Uint8Array(target)
  return whole.subarray(offset * width, size === undefined ? undefined : (offset + size) * width)
}
