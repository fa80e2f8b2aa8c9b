// The measures of the time axis, in pixels: a row of texts, a row of rounds, a row per lane.

import { lanes } from './spans.ts'

export const textsHeight = 18
export const roundsHeight = 20
export const laneHeight = 20
export const barHeight = 12
export const top = textsHeight + 4
export const lanesTop = top + roundsHeight + 4
export const height = lanesTop + lanes.length * laneHeight + 4

/** The y position of the middle of a lane, by its place. */
export function middleOf(lane: number): number {
  return lanesTop + (lane + 0.5) * laneHeight
}
