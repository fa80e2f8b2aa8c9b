// Ends a service that gets a signal while its code still loads. Nothing is open then, so the process ends
// at once with 0, as a service that closed everything in order. Imports nothing, because the entry loads
// this file first.

const signals = ['SIGINT', 'SIGTERM'] as const

function endNow(): void {
  process.exit(0)
}

/** Until `stopEndingEarly`. */
export function endOnEarlySignal(): void {
  for (const signal of signals) process.on(signal, endNow)
}

/** The service handles signals itself from now on. */
export function stopEndingEarly(): void {
  for (const signal of signals) process.off(signal, endNow)
}
