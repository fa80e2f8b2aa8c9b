// Inputs of absent stages. A derived record counts only if its input exists, so a test that writes
// derived records writes their inputs first.

import type { Bus } from '../../shared/contract/bus.ts'

/** Appends records without content to an inbox: for ids up to this count, in partition 0. */
export async function appendInputs(bus: Bus, topic: string, count = 20): Promise<void> {
  await bus.append(
    Array.from({ length: count }, () => ({ topic, partition: 0, key: '', value: Buffer.alloc(0) })),
  )
}
