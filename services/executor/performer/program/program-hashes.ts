// Finds the programs of calls that wait for a person and writes their hashes into the executor's
// inbox. Part of the performer, because only it has the agent files.
// One record for each round that waits, once for each owner. The reducer applies
// the first.

import { type Agents, findDeclared } from '../../../../shared/agents/agents.ts'
import { roundKey } from '../../../../shared/contract/ids.ts'
import type { ProgramsHashed } from '../../../../shared/contract/messages.ts'
import type { ProgramTask } from '../../tasks.ts'
import type { ProgramHash } from './program-hash.ts'

export type ProgramHashes = {
  /** All rounds of a unit whose programs are wanted now; [] for none. */
  reconcile(unit: string, tasks: ProgramTask[]): void
}

/** `write`: into the executor's inbox; must not throw. */
export function createProgramHashes(
  { agents, programHash }: { agents: Agents; programHash: ProgramHash },
  write: (message: ProgramsHashed) => void,
): ProgramHashes {
  /** The rounds that have their record, by unit. */
  const written = new Map<string, Set<string>>()

  return {
    reconcile(unit, tasks) {
      const before = written.get(unit)
      if (tasks.length === 0) return void written.delete(unit)
      written.set(unit, new Set(tasks.map(roundKey)))
      for (const task of tasks) if (before?.has(roundKey(task)) !== true) write(hashesOf(task))
    },
  }

  function hashesOf({ conversation, turn, round, agent, calls }: ProgramTask): ProgramsHashed {
    const programs = calls.map(({ ordinal, declaration }) => {
      const tool = findDeclared(agents, agent, declaration)
      return { ordinal, hash: tool === undefined ? '' : programHash(tool.run) }
    })
    return { type: 'programs-hashed', conversation, turn, round, programs }
  }
}
