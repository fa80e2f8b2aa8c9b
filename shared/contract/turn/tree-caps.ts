// Caps of a tree: of a turn and all turns that its calls led to, or of a guest's session.

import type { TreeCaps } from '../messages.ts'

const none: TreeCaps = {
  depth: null,
  atOnce: null,
  children: null,
  rounds: null,
  tokens: null,
  usd: null,
  wallMs: null,
}

/** The given caps over the others, the lower one of each. Null: there are none. */
export function lowestTreeCaps(
  caps: TreeCaps | null,
  given: Partial<TreeCaps> | undefined,
): TreeCaps | null {
  const lowest: TreeCaps = { ...none, ...caps }
  for (const key of Object.keys(none) as (keyof TreeCaps)[]) {
    const value = given?.[key] ?? null
    if (value !== null) lowest[key] = Math.min(value, lowest[key] ?? value)
  }
  return Object.values(lowest).every((value) => value === null) ? null : lowest
}
