// For each call of a turn the one before it that it is compared with, and its arguments as the
// loop-detector sees them.

import { readArguments } from '../../services/loop-detector/arguments.ts'
import type { CallId } from '../../shared/contract/ids.ts'
import type { Declaration } from '../../shared/contract/messages.ts'
import type { RoundTimeline } from '../history/inspect/timeline.ts'
import type { CallFindings } from './page/data.ts'

export type EarlierCalls = (round: RoundTimeline, declarations: Declaration[]) => CallFindings[]

type Place = Pick<CallId, 'round' | 'ordinal'>

/**
 * To be asked for the rounds of a turn in their order. `declarations`: of the tools that were
 * called.
 */
export function earlierCalls(): EarlierCalls {
  const byCall = new Map<string, Place>()
  const byTool = new Map<string, Place>()
  return ({ round, calls }, declarations) => {
    const found = calls.map(({ name, raw }) => {
      const { canonical } = readArguments(
        raw,
        declarations.find((declared) => declared.name === name)?.hints,
      )
      const same = byCall.get(keyOf(name, canonical))
      const previous = same ?? byTool.get(name)
      return {
        canonical: canonical === raw.trim() || canonical.startsWith('text:') ? null : canonical,
        previous: previous === undefined ? null : { ...previous, same: same !== undefined },
        key: keyOf(name, canonical),
      }
    })
    // Siblings were written at once: none is the other's earlier call.
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
