// Deletes records from a bus that must be able to: one of a data folder.

import type { Bus, Erased, Erasure } from '../contract/bus.ts'
import { WeirError } from '../lib/errors.ts'

/** As `Bus.erase`. */
export async function eraseIn(
  bus: Pick<Bus, 'erase'>,
  erasure: Erasure,
): Promise<Erased | undefined> {
  if (bus.erase === undefined)
    throw new WeirError('runtime.assertion', 'this bus deletes no records')
  return bus.erase(erasure)
}
