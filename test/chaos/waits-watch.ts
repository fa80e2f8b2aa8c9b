// The rounds that wait for each guard now, from the clients' activity lines. They prove that a
// fault hit a guard while rounds waited for it.

import type { Bus } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { roundKey, turnKey } from '../evidence/evidence.ts'
import { followActivity } from './activity.ts'

export type WaitsWatch = {
  /** Rounds that have waited for longer than a running guard needs. */
  waiting(guard: string): number
  close(): void
}

const longMs = 500

export function watchWaits({
  bus,
  prefix,
  partitions,
}: {
  bus: Bus
  prefix: string
  partitions: number
}): WaitsWatch {
  const closed = new AbortController()
  const { signal } = closed
  /** By guard and round: the begin of the wait. */
  const waits = new Map<string, Map<string, { turn: string; since: number }>>()
  followActivity({ bus, prefix, partitions, signal }, note)

  function note(message: Message): void {
    if (message.type === 'calls-waiting') {
      for (const guard of new Set(message.calls.flatMap(({ guards }) => guards))) {
        const rounds = waits.get(guard) ?? new Map<string, { turn: string; since: number }>()
        waits.set(
          guard,
          rounds.set(roundKey(message), { turn: turnKey(message), since: Date.now() }),
        )
      }
    } else if (message.type === 'guard-verdict-given')
      waits.get(message.guard)?.delete(roundKey(message))
    else if (message.type === 'turn-finished') {
      for (const rounds of waits.values())
        for (const [round, { turn }] of rounds) if (turn === turnKey(message)) rounds.delete(round)
    }
  }

  return {
    waiting: (guard) =>
      [...(waits.get(guard)?.values() ?? [])].filter(({ since }) => Date.now() - since > longMs)
        .length,
    close: () => closed.abort(),
  }
}
