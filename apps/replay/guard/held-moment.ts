// The time and the chance that a replayed guard sees while it judges a round.

/**
 * `time`: milliseconds since 1970. `elapsed`: milliseconds since the process began. `draw`: at
 * least 0 and below 1, like Math.random. `fill`: fills its argument with random bytes and returns
 * it.
 */
export type Moment = {
  time: number
  elapsed: number
  draw(): number
  fill(bytes: Uint8Array): Uint8Array
}
