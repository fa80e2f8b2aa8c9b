// Which rounds wait for which guard now, as clients are told it: what says whether a guard was hit while it was waited for.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus } from '../../shared/bus/port.ts'
import { decode } from '../../shared/codec.ts'
import type { Message } from '../../shared/messages.ts'
import { roundKey, turnKey } from './evidence.ts'

export type WaitsWatch = {
  /** Rounds that have waited for it for longer than a guard takes that is there. */
  waiting(guard: string): number
  close(): void
}

const longMs = 500
const retryMs = 500

export function watchWaits({ bus, prefix, partitions }: { bus: Bus; prefix: string; partitions: number }): WaitsWatch {
  const closed = new AbortController()
  const { signal } = closed
  /** By guard and round: since when. */
  const waits = new Map<string, Map<string, { turn: string; since: number }>>()
  for (let partition = 0; partition < partitions; partition += 1) void follow(partition)

  async function follow(partition: number): Promise<void> {
    let from = 0
    while (!signal.aborted) {
      try {
        for await (const records of bus.follow({ topic: `${prefix}activity`, partition, from, signal }))
          for (const { value, offset } of records) {
            from = offset + 1
            if (value !== null) note(decode(value))
          }
      } catch {
        await sleep(retryMs)
      }
    }
  }

  function note(message: Message): void {
    if (message.type === 'calls-waiting') {
      for (const guard of new Set(message.calls.flatMap(({ guards }) => guards))) {
        const rounds = waits.get(guard) ?? new Map<string, { turn: string; since: number }>()
        waits.set(guard, rounds.set(roundKey(message), { turn: turnKey(message), since: Date.now() }))
      }
    } else if (message.type === 'guard-verdict-given') waits.get(message.guard)?.delete(roundKey(message))
    else if (message.type === 'turn-finished') {
      for (const rounds of waits.values()) for (const [round, { turn }] of rounds) if (turn === turnKey(message)) rounds.delete(round)
    }
  }

  return {
    waiting: (guard) => [...(waits.get(guard)?.values() ?? [])].filter(({ since }) => Date.now() - since > longMs).length,
    close: () => closed.abort(),
  }
}
