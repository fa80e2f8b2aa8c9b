// A stage with a bug: it throws on some records, always on the same ones. It is no canary, because
// R8 covers it: the turn fails, all other units go on, and no unit keeps waiting. All checkers must
// pass, except the one that allows no dead letters.

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

/** Throws after its work, with the state half changed. The runtime must fold that state again. */
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
