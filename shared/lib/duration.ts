// A duration that a person types: `90s`, `1.5h`, `24h`.

import type { Milliseconds } from './clock.ts'

const units: Record<string, Milliseconds> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Undefined: the text is no duration. */
export function durationOf(text: string): Milliseconds | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * (units[unit] as number)
}
