// Finds for each call of a turn the earlier call to compare it with, and its arguments in the form
// of the loop-detector.

import { readArguments } from '../../services/loop-detector/evidence/arguments.ts'
import type { CallId } from '../../shared/contract/ids.ts'
import type { RoundTimeline } from '../../shared/view/timeline.ts'
import type { CallFindings } from './page/data.ts'

export type EarlierCalls = (round: RoundTimeline) => CallFindings[]

type Place = Pick<CallId, 'round' | 'ordinal'>

/** Call it for the rounds of a turn in order. */
export function earlierCalls(): EarlierCalls {
  const byCall = new Map<string, Place>()
  const byTool = new Map<string, Place>()
  return ({ round, calls, hints }) => {
    const found = calls.map(({ name, rawArguments: raw }) => {
      const { canonical } = readArguments(raw, Object.hasOwn(hints, name) ? hints[name] : undefined)
      const same = byCall.get(keyOf(name, canonical))
      const previous = same ?? byTool.get(name)
      return {
        canonical: canonical === raw.trim() || canonical.startsWith('text:') ? null : canonical,
        previous: previous === undefined ? null : { ...previous, same: same !== undefined },
        key: keyOf(name, canonical),
      }
    })
    // Calls of one round were written together, so none is an earlier call of another.
    for (const [index, { ordinal, name }] of calls.entries()) {
      byCall.set(found[index]?.key ?? '', { round, ordinal })
      byTool.set(name, { round, ordinal })
    }
    return found.map(({ canonical, previous }) => ({ canonical, previous }))
  }
}

function keyOf(name: string, canonical: string): string {
  return JSON.stringify([name, canonical])
}
