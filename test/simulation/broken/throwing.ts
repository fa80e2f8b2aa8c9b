// A stage with a bug: it throws on some records, always on the same ones. That is no canary: R8
// promises that the turn fails, that everything else goes on, and that nobody is left waiting. So
// all checkers must be content but the one that wants no dead letters.

import type { Message } from '../../../shared/contract/messages.ts'
import type { Stage } from '../../../shared/contract/stage.ts'
import type { StageName } from '../../../shared/contract/topology.ts'
import { type Entries, realEntries, realSystem, type System } from '../system.ts'

export function throwing(name: StageName): System {
  return {
    ...realSystem,
    name: `${name} throws now and then`,
    entries(parts) {
      const entries = realEntries(parts)
      const entry = entries[name]
      return {
        ...entries,
        [name]: { ...entry, stage: throwingStage(entry.stage as unknown as AnyStage) },
      } as Entries
    },
  }
}

type AnyStage = Stage<unknown, Message, unknown>

/** After its work, so that the state has been changed halfway: the runtime must fold it again. */
function throwingStage(stage: AnyStage): AnyStage {
  return {
    ...stage,
    react(state, record) {
      const reaction = stage.react(state, record)
      if (record.offset % 17 === 5) throw new Error(`simulated bug at ${record.offset}`)
      return reaction
    },
  }
}
