// The time and the chance that a replayed guard sees while it judges a round.

/**
 * `time`: milliseconds since 1970. `elapsed`: milliseconds since the process began. `draw`: from 0
 * to below 1, as Math.random. `fill`: with bytes of chance; gives back what it was given.
 */
export type Moment = {
  time: number
  elapsed: number
  draw(): number
  fill(bytes: Uint8Array): Uint8Array
}
