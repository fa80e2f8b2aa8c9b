// The stages of a process: `--stages validator,loop-detector`, or all.

import { performs } from '../../services/reducers.ts'
import type { AgentPart } from '../../shared/agents/file/source.ts'
import { type StageName, stageNames } from '../../shared/contract/topology.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { nearestName } from '../../shared/settings/nearest-name.ts'
import { printable } from '../terminal/text/printable.ts'

/**
 * In the order of the topology, each once. `list`: names separated by commas; default: all. Throws
 * `usage`, with the nearest name.
 */
export function selectedStages(list: string | undefined): StageName[] {
  if (list === undefined) return stageNames
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0)
    throw usageError(`--stages names no stage. Stages: ${stageNames.join(', ')}`)
  const unknown = names.filter((name) => !stageNames.some((known) => known === name))
  if (unknown.length > 0) throw usageError(unknown.map(unknownStage).join('\n'))
  return stageNames.filter((known) => names.includes(known))
}

/** The stages that need agent files. */
export function stagesWithAgents(selected: readonly StageName[]): StageName[] {
  return selected.filter(performs)
}

const partOf: Partial<Record<StageName, AgentPart>> = { 'llm-gateway': 'model', executor: 'tools' }

/** The parts of agent files that these stages use. */
export function agentParts(selected: readonly StageName[]): AgentPart[] {
  return selected.flatMap((stage) => partOf[stage] ?? [])
}

function unknownStage(name: string): string {
  const near = nearestName(name, stageNames)
  const advice = near === undefined ? `Stages: ${stageNames.join(', ')}` : `Did you mean ${near}?`
  return `unknown stage '${printable(name)}' (--stages). ${advice}`
}
