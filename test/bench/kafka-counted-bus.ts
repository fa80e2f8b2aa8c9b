// A bus that counts the steps of its readers, for relays on Weir's bus.

import type { Bus } from '../../shared/contract/bus.ts'

/** Reports each step when all its outputs are acknowledged. */
export function counted(bus: Bus, done: (records: number) => void): Bus {
  return {
    ...bus,
    subscribe: (options) =>
      bus.subscribe({
        ...options,
        async assign(assignment) {
          const reader = await options.assign(assignment)
          let records = 0
          return {
            ...reader,
            read(batch) {
              records = batch.length
              return reader.read(batch)
            },
            acknowledged() {
              reader.acknowledged()
              done(records)
            },
          }
        },
      }),
  }
}
