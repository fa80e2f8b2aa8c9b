// Ctrl-C and SIGTERM: the first requests an end, the second kills. The second also reaches the
// shell, as an unhandled signal would. And it kills the running tools: they lead their own process
// groups, so the terminal's signal does not reach them.

import type { Turn } from '../../client/turn/turn.ts'
import { killRunningGroups } from '../../shared/tools/tool-process.ts'
import { stopEndingEarly } from './early-signals.ts'
import type { Screen } from './live-screen.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

export type InterruptSignal = (typeof signals)[number]

/** Calls `onFirst` at the first signal, until the returned function is called. */
export function listenForInterrupts(onFirst: (signal: InterruptSignal) => void): () => void {
  let isFirst = true

  function onSignal(signal: InterruptSignal): void {
    if (!isFirst) {
      stop()
      killRunningGroups()
      process.kill(process.pid, signal)
      return
    }
    isFirst = false
    onFirst(signal)
  }

  function stop(): void {
    for (const signal of signals) process.off(signal, onSignal)
  }

  for (const signal of signals) process.on(signal, onSignal)
  stopEndingEarly()
  return stop
}

/**
 * Ends this process as if the signal had not been handled: 130 in a shell for Ctrl-C. `streams` are
 * written to their end first.
 */
export async function endBySignal(
  signal: InterruptSignal,
  streams: NodeJS.WriteStream[],
): Promise<void> {
  await Promise.all(streams.map((stream) => new Promise((written) => stream.write('', written))))
  process.kill(process.pid, signal)
}

/**
 * `readers`: streams that need a reader, or the turn is pointless. `onSignal`: called at the first
 * signal too.
 */
export type Cancellable = {
  turn: Turn
  screen: Screen
  readers: NodeJS.WriteStream[]
  onSignal?: (signal: InterruptSignal) => void
}

/**
 * While `follow` runs, a signal or a closed reader cancels the turn. Waits for the turn to end.
 */
export async function cancellable<T>(
  { turn, screen, readers, onSignal }: Cancellable,
  follow: () => Promise<T>,
): Promise<T> {
  const cancel = (): void => {
    turn.cancel().catch(() => {}) // the turn itself reports a failure
  }
  const stopListening = listenForInterrupts((signal) => {
    screen.print(signal === 'SIGINT' ? '  cancelling (Ctrl-C again kills)' : '  cancelling')
    cancel()
    onSignal?.(signal)
  })
  for (const reader of readers) reader.on('error', cancel)
  try {
    return await follow()
  } finally {
    stopListening()
    for (const reader of readers) reader.off('error', cancel)
  }
}
