// The texts above the time axis: the time of day at the beginning of a turn, the time since then,
// and the length of each break in the scale. Pure.

import { isMarked, type Piece, placeOf, xOf } from './axis.ts'

/** `x`: the marked position. `at`: the beginning of its text. */
export type Tick = { kind: 'begin' | 'since' | 'gap'; x: number; at: number; text: string }

/** Space between two texts. */
const apartPixels = 7
/** Generous width of a digit in the font of the axis. */
const characterPixels = 6.4

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5,
  36e5, 72e5, 216e5, 864e5,
]
/** Space between two lines of the axis. */
const stepPixelsMin = 74

/**
 * `begins`: the beginning of each turn. Texts never touch; some are left out. Gaps and beginnings
 * have priority over the times between them.
 */
export function ticksOf(pieces: Piece[], begins: number[], width: number): Tick[] {
  const placed: Tick[] = []
  const place = (tick: Omit<Tick, 'at'>, ideal: number): boolean => {
    const length = tick.text.length * characterPixels
    const at = Math.max(0, Math.min(ideal, width - length))
    if (tick.kind === 'since' && at < ideal) return false
    if (
      placed.some(
        (other) => at < endOf(other) + apartPixels && other.at < at + length + apartPixels,
      )
    )
      return false
    placed.push({ ...tick, at })
    return true
  }
  for (const piece of pieces) {
    if (!isMarked(piece) || piece.fold.kind === 'loop') continue
    const { from, to, x, width: wide } = piece
    const text = brief(to - from)
    place(
      { kind: 'gap', x: x + wide / 2, text },
      x + wide / 2 - (text.length * characterPixels) / 2,
    )
  }
  for (const [turn, begin] of begins.entries()) {
    const x = xOf(pieces, begin)
    const texts =
      turn === 0
        ? [`${timeOfDay(begin)} UTC`, timeOfDay(begin)]
        : laterTimes(begin, begins[turn - 1] ?? begin)
    texts.some((text) => place({ kind: 'begin', x, text }, x + 3))
  }
  for (const tick of sinceOf(pieces, begins)) place(tick, tick.x + 3)
  return placed.toSorted((a, b) => a.x - b.x)
}

function endOf({ at, text }: Tick): number {
  return at + text.length * characterPixels
}

/**
 * A wide loop has its own steps if the scale is broken. A turn is searched only in its own pieces:
 * thousands of turns have twice as many pieces.
 */
function sinceOf(pieces: Piece[], begins: number[]): Omit<Tick, 'at'>[] {
  const plain = stepOf(pieces.filter(({ isToScale }) => isToScale))
  const stepped = pieces.filter(
    (piece) => piece.isToScale || (piece.fold?.kind === 'loop' && piece.width > 3 * stepPixelsMin),
  )
  return begins.flatMap((begin, turn) => {
    const end = begins[turn + 1] ?? Number.POSITIVE_INFINITY
    const ticks: Omit<Tick, 'at'>[] = []
    for (let place = placeOf(stepped, begin); place < stepped.length; place += 1) {
      const piece = stepped[place] as Piece
      if (piece.from >= end) break
      const step = piece.isToScale ? plain : stepOf([piece])
      const last = Math.min(piece.to, end - 1) - begin
      for (
        let ms = Math.max(step, Math.ceil((piece.from - begin) / step) * step);
        ms <= last;
        ms += step
      )
        ticks.push({ kind: 'since', x: xOf(pieces, begin + ms), text: since(ms, step) })
    }
    return ticks
  })
}

function stepOf(pieces: Piece[]): number {
  const perMs = Math.max(...pieces.map(({ from, to, width }) => width / Math.max(1, to - from)), 0)
  return steps.find((one) => one * perMs >= stepPixelsMin) ?? (steps.at(-1) as number)
}

function timeOfDay(at: number): string {
  return new Date(at).toISOString().slice(11, 19)
}

/**
 * With the day, if there is room for it and it differs from the day of the turn before. The page's
 * head has the first day.
 */
function laterTimes(at: number, before: number): string[] {
  const day = new Date(at).toISOString().slice(0, 10)
  const isSame = new Date(before).toISOString().startsWith(day)
  return isSame
    ? [timeOfDay(at)]
    : [`${day} ${timeOfDay(at)}`, `${day.slice(5)} ${timeOfDay(at)}`, timeOfDay(at)]
}

/** As exact as the step, so no two texts are equal. */
function since(ms: number, step: number): string {
  if (step < 100 && ms < 1000) return `+${ms} ms`
  const digits = [10, 100, 1000].filter((size) => step < size).length
  if (digits > 0 && ms < 6e4) return `+${(ms / 1000).toFixed(digits)} s`
  const [hours, minutes, seconds] = [
    Math.floor(ms / 36e5),
    Math.floor(ms / 6e4) % 60,
    (ms / 1000) % 60,
  ]
  const parts = [
    hours > 0 && `${hours} h`,
    minutes > 0 && `${minutes} min`,
    (seconds > 0 || ms < 6e4) && `${seconds.toFixed(digits)} s`,
  ]
  return `+${parts.filter((part) => part !== false).join(' ')}`
}

const days = { size: 864e5, unit: 'd' }
const units = [
  { below: 1e3, size: 1, unit: 'ms' },
  { below: 6e4, size: 1e3, unit: 's' },
  { below: 36e5, size: 6e4, unit: 'min' },
  { below: 3 * 864e5, size: 36e5, unit: 'h' },
]

/** A duration in one unit: `45 s`, `3 min`, `26 h`, `12 d`. */
export function brief(ms: number): string {
  const { size, unit } = units.find(({ below }) => ms < below) ?? days
  const value = ms / size
  return `${value < 10 && unit !== 'ms' ? String(Math.round(value * 10) / 10) : Math.round(value)} ${unit}`
}
