// The process of each owner. Owners are random words that only the log contains. Their results
// identify them: a result quotes its start, and the tool noted which process started it.

import type { Evidence } from '../../evidence.ts'
import type { ClearedCall } from './claims.ts'

/** By owner. An owner that never reported a tool's result is missing. */
export function processesOfOwners(
  { starts }: Evidence,
  calls: Map<string, ClearedCall>,
): Map<string, string> {
  const processes = new Map(starts.map(({ start, process }) => [start, process]))
  const owners = new Map<string, string>()
  for (const { claims } of calls.values()) {
    for (const { owner, end } of claims) {
      const start = end.kind === 'reported' ? /"start":"([^"]+)"/.exec(end.text)?.[1] : undefined
      const process = start === undefined ? undefined : processes.get(start)
      if (process !== undefined) owners.set(owner, process)
    }
  }
  return owners
}
