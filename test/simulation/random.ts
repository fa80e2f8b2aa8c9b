// Randomness of a simulation: one seed, and named streams forked from it. A fork by name keeps
// streams independent: a change in one part of the world does not shift the dice of others. An old
// seed then still shows its bug. No library offers this, so here are ten lines of sfc32.

export type Random = {
  /** At least 0, below 1. */
  unit(): number
  /** A whole number from 0 to before `n`. */
  below(n: number): number
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T
  hex(digits: number): string
  /** An independent stream, always the same for one name, however much of this one was used. */
  fork(name: string): Random
}

export function createRandom(seed: string): Random {
  const next = sfc32(hash(seed, 1), hash(seed, 2), hash(seed, 3), hash(seed, 4))
  for (let i = 0; i < 12; i++) next()
  const below = (n: number): number => Math.floor(next() * n)
  return {
    unit: next,
    below,
    between: (min, max) => min + below(max - min + 1),
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    weighted(choices) {
      let rest = next() * choices.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, choice] of choices) {
        rest -= weight
        if (rest < 0) return choice
      }
      return (choices.at(-1) as (typeof choices)[number])[1]
    },
    hex: (digits) => Array.from({ length: digits }, () => below(16).toString(16)).join(''),
    fork: (name) => createRandom(`${seed}/${name}`),
  }
}

function sfc32(seedA: number, seedB: number, seedC: number, seedD: number): () => number {
  let [a, b, c, d] = [seedA, seedB, seedC, seedD]
  return () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return (t >>> 0) / 2 ** 32
  }
}

/** FNV-1a with a salt. */
function hash(text: string, salt: number): number {
  let h = 0x811c9dc5 ^ Math.imul(salt, 0x9e3779b1)
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return h | 0
}
