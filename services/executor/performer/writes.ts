// The writes of a performer and all other work that its close() waits for. Owns: the work under
// way.

import type { Message } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import type { Port } from '../../../shared/contract/topology.ts'

export type Writes = {
  /** True when all messages are acknowledged. Never rejects. */
  write(port: Port, messages: Message[]): Promise<boolean>
  /** Adds work that `finished` waits for. It must not reject. */
  track(work: Promise<unknown>): void
  /** Resolves when no tracked work is under way. */
  finished(): Promise<void>
}

/** `onRefused`: called when the bus refuses a write. */
export function createWrites(
  context: Pick<PerformerContext, 'log' | 'write'>,
  onRefused: () => void,
): Writes {
  const pending = new Set<Promise<unknown>>()

  return {
    write(port, messages) {
      const written = async () => context.write(port, messages)
      return written().then(
        () => true,
        (error) => {
          context.log.error(
            { err: error, port },
            'the bus refused a write of the executor: no more tools start on this partition',
          )
          onRefused()
          return false
        },
      )
    },

    track(work) {
      pending.add(work)
      void work.finally(() => pending.delete(work))
    },

    async finished() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}
