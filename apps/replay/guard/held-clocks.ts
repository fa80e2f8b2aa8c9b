// Replaces a process's clocks by the current moment (moment.ts): dates, their formats, uptime and
// timers. It does not cover CPU times, performance.mark and the clocks of other realms (node:vm).

import os from 'node:os'
import { performance } from 'node:perf_hooks'
import type { Moment } from './held-moment.ts'

/** Lasts as long as the process. If `held` returns undefined, the time is real. */
export function holdClocks(held: () => Moment | undefined): void {
  holdDates(held)
  holdFormats(held)
  holdTemporal(held)
  holdTimers(held)
}

function holdDates(held: () => Moment | undefined): void {
  const [RealDate, realNow] = [Date, Date.now]
  const HeldDate = new Proxy(RealDate, {
    construct(target, args, made) {
      const moment = held()
      return Reflect.construct(
        target,
        moment !== undefined && args.length === 0 ? [moment.time] : args,
        made,
      )
    },
    apply: () => new HeldDate().toString(),
  })
  RealDate.prototype.constructor = HeldDate
  RealDate.now = () => held()?.time ?? realNow()
  globalThis.Date = HeldDate
}

/** Without a date they use the current time. */
function holdFormats(held: () => Moment | undefined): void {
  type Format = Intl.DateTimeFormat
  const { prototype } = Intl.DateTimeFormat
  const realParts = prototype.formatToParts
  const realFormat = Object.getOwnPropertyDescriptor(prototype, 'format')?.get as (
    this: Format,
  ) => Format['format']
  function get(this: Format): Format['format'] {
    const format = realFormat.call(this)
    return (date) => format(date === undefined ? held()?.time : date)
  }
  Object.defineProperty(prototype, 'format', { get, configurable: true })
  prototype.formatToParts = function formatToParts(date) {
    return realParts.call(this, date === undefined ? held()?.time : date)
  }
}

type Zoned = { toPlainDateTime(): unknown; toPlainDate(): unknown; toPlainTime(): unknown }
type Instant = { toZonedDateTimeISO(zone: unknown): Zoned }
type Temporal = {
  Instant: { fromEpochMilliseconds(time: number): Instant }
  Now: Record<string, (zone?: unknown) => unknown>
}

/** Node.js has it since version 26. */
function holdTemporal(held: () => Moment | undefined): void {
  const { Temporal } = globalThis as { Temporal?: Temporal }
  if (Temporal === undefined) return
  const { Now, Instant } = Temporal
  function hold(name: string, of: (instant: Instant, zone: unknown) => unknown): void {
    const real = Now[name]
    Now[name] = (zone) => {
      const moment = held()
      if (moment === undefined) return real?.call(Now, zone)
      return of(
        Instant.fromEpochMilliseconds(moment.time),
        zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      )
    }
  }
  hold('instant', (instant) => instant)
  hold('zonedDateTimeISO', (instant, zone) => instant.toZonedDateTimeISO(zone))
  hold('plainDateTimeISO', (instant, zone) => instant.toZonedDateTimeISO(zone).toPlainDateTime())
  hold('plainDateISO', (instant, zone) => instant.toZonedDateTimeISO(zone).toPlainDate())
  hold('plainTimeISO', (instant, zone) => instant.toZonedDateTimeISO(zone).toPlainTime())
}

function holdTimers(held: () => Moment | undefined): void {
  const [realElapsed, realOrigin] = [performance.now.bind(performance), performance.timeOrigin]
  performance.now = () => held()?.elapsed ?? realElapsed()
  function get(): number {
    const moment = held()
    return moment === undefined ? realOrigin : moment.time - moment.elapsed
  }
  Object.defineProperty(performance, 'timeOrigin', { get, configurable: true })

  for (const holder of [process, os]) {
    const realUptime = holder.uptime.bind(holder)
    holder.uptime = () => {
      const moment = held()
      return moment === undefined ? realUptime() : moment.elapsed / 1_000
    }
  }

  const realTimer = process.hrtime
  function nanoseconds(): bigint {
    const moment = held()
    return moment === undefined
      ? realTimer.bigint()
      : BigInt(Math.floor(moment.elapsed)) * 1_000_001n // the finer digits differ as the others do
  }
  process.hrtime = Object.assign(
    (since: [number, number] = [0, 0]): [number, number] => {
      const elapsed = nanoseconds() - (BigInt(since[0]) * 1_000_000_000n + BigInt(since[1]))
      return [Number(elapsed / 1_000_000_000n), Number(elapsed % 1_000_000_000n)]
    },
    { bigint: nanoseconds },
  )
}
