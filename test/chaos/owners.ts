// Which process an owner was. Owners are random words that stand nowhere but in the log, so it is
// learnt from what they reported: a result quotes its start, and the tool that wrote the start down
// knew which process had started it.

import type { ClearedCall } from './claims.ts'
import type { Evidence } from './evidence.ts'

/** By owner; one that never reported a result of a tool is not there. */
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
