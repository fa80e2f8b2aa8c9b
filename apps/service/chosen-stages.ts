// Which stages a process runs: `--stages validator,loop-detector`, or all.

import { performs } from '../../services/reducers.ts'
import { type StageName, stageNames } from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { nearestName } from '../../shared/settings/nearest-name.ts'
import { printable } from '../terminal/printable.ts'

/**
 * In the order of the topology, each once. `list`: names with commas between them; undefined: all.
 * Throws `usage` with the name that was perhaps meant.
 */
export function chosenStages(list: string | undefined): StageName[] {
  if (list === undefined) return stageNames
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0)
    throw new WeirError('usage', `--stages names no stage; there are ${stageNames.join(', ')}`)
  const unknown = names.filter((name) => !stageNames.some((known) => known === name))
  if (unknown.length > 0) throw new WeirError('usage', unknown.map(complaint).join('\n'))
  return stageNames.filter((known) => names.includes(known))
}

/** Those of them that cannot do without agent files. */
export function stagesWithAgents(chosen: readonly StageName[]): StageName[] {
  return chosen.filter(performs)
}

function complaint(name: string): string {
  const near = nearestName(name, stageNames)
  const advice = near === undefined ? `there are ${stageNames.join(', ')}` : `did you mean ${near}?`
  return `--stages: '${printable(name)}' is no stage; ${advice}`
}
