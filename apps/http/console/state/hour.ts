// Counts of the last hour, by minute and by a key. Pure.
// Memory: one entry for each key in each of 60 minutes, at most
// `limits.consolePairsMax` keys in a minute. Further keys share the entry of `others`.

import { limits } from '../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'

const minuteMs = 60_000
export const minutesKept = 60

/** By the number of the minute, then by the key as JSON. */
export type Hour<T> = Map<number, Map<string, T>>

/** The entry of these names at this time. `make` gets the names of a new entry. */
export function entryOf<T, Names extends readonly string[]>(
  hour: Hour<T>,
  { time, names, others }: { time: Milliseconds; names: Names; others: Names },
  make: (names: Names) => T,
): T {
  const minute = Math.floor(time / minuteMs)
  const entries = hour.get(minute) ?? new Map<string, T>()
  hour.set(minute, entries)
  const isFull = entries.size >= limits.consolePairsMax && !entries.has(JSON.stringify(names))
  const used = isFull ? others : names
  const key = JSON.stringify(used)
  const entry = entries.get(key) ?? make(used)
  entries.set(key, entry)
  if (hour.size > minutesKept + 1) forgetBefore(hour, Math.max(...hour.keys()) - minutesKept)
  return entry
}

function forgetBefore<T>(hour: Hour<T>, first: number): void {
  for (const minute of hour.keys()) if (minute < first) hour.delete(minute)
}

/** The minutes of the hour before `now`, each with its beginning and its entries by key. */
export function minutesOf<T>(
  hour: Hour<T>,
  now: Milliseconds,
): { at: Milliseconds; entries: [string, T][] }[] {
  const last = Math.floor(now / minuteMs)
  return Array.from({ length: minutesKept }, (_, place) => {
    const minute = last - minutesKept + 1 + place
    return { at: minute * minuteMs, entries: [...(hour.get(minute) ?? [])] }
  })
}

/** The sum of each count of `one`. `other` may have further fields. */
export function summed<Counts extends Record<string, number>>(
  one: Counts,
  other: NoInfer<Counts>,
): Counts {
  const added = other as Record<string, number>
  const sums = Object.entries(one).map(([name, count]) => [name, count + (added[name] ?? 0)])
  return Object.fromEntries(sums) as Counts
}

/** The entries of all minutes, summed by key. `nothing` has the names of the counts. */
export function sumsByKey<Counts extends Record<string, number>, T extends Counts>(
  minutes: readonly { entries: [string, T][] }[],
  nothing: Counts,
): T[] {
  const by = new Map<string, { entry: T; sum: Counts }>()
  for (const [key, entry] of minutes.flatMap(({ entries }) => entries))
    by.set(key, { entry, sum: summed(by.get(key)?.sum ?? nothing, entry) })
  return [...by.values()].map(({ entry, sum }) => ({ ...entry, ...sum }))
}
