// Finds calls in texts that are no calls by the rules of recover.ts: a call's frame after other
// text, and an object that names a tool in another shape. They never run. The model learns of them,
// because a call that is dropped silently is I2.
//
// UNRUNNABLE-1. Nothing here runs. In doubt the text stays text: a wrong report costs a round.

import { limits } from '../../../shared/contract/limits.ts'
import { otherShape } from './other-shape.ts'
import type { OfferedTool } from './recover.ts'
import { trailingFrame } from './trailing-frame.ts'

/** `dialect`: the name of the dialect, or `json` for another shape. */
export type Unrunnable = { dialect: string; hold: 'frame' | 'shape' }

/** `text`: the visible text, with thinking in it. `recover` found nothing in it. */
export function unrunnable(text: string, offered: OfferedTool[]): Unrunnable | undefined {
  if (offered.length === 0 || Buffer.byteLength(text) > limits.textCallsBytesMax) return undefined
  if (otherShape(text, offered)) return { dialect: 'json', hold: 'shape' }
  const dialect = trailingFrame(text, offered)
  return dialect === undefined ? undefined : { dialect, hold: 'frame' }
}
