// Ctrl-C and SIGTERM: the first asks for an end, the second is the end. The second one kills as if
// nobody had listened, so that a shell sees it too; and the tools that run with it, which a
// terminal does not reach: they lead process groups of their own.

import type { Turn } from '../../client/turn.ts'
import { killRunningGroups } from '../../services/executor/tools/tool-process.ts'
import type { Screen } from './live-screen.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

export type InterruptSignal = (typeof signals)[number]

/** Calls `asked` at the first signal, until the returned function is called. */
export function listenForInterrupts(asked: (signal: InterruptSignal) => void): () => void {
  let isAsked = false

  function onSignal(signal: InterruptSignal): void {
    if (isAsked) {
      stop()
      killRunningGroups()
      process.kill(process.pid, signal)
      return
    }
    isAsked = true
    asked(signal)
  }

  function stop(): void {
    for (const signal of signals) process.off(signal, onSignal)
  }

  for (const signal of signals) process.on(signal, onSignal)
  return stop
}

/**
 * `readers`: streams of which somebody must read for the turn to make sense. `asked`: called at the
 * first signal too.
 */
export type Cancellable = {
  turn: Turn
  screen: Screen
  readers: NodeJS.WriteStream[]
  asked?: (signal: InterruptSignal) => void
}

/**
 * While `follow` runs, a signal cancels the turn, and so does a reader who has gone; its end is
 * waited for.
 */
export async function cancellable<T>(
  { turn, screen, readers, asked }: Cancellable,
  follow: () => Promise<T>,
): Promise<T> {
  const cancel = (): void => {
    turn.cancel().catch(() => {}) // if that fails, the turn itself says why
  }
  const stopListening = listenForInterrupts((signal) => {
    screen.print(signal === 'SIGINT' ? '  cancelling; Ctrl-C again kills' : '  cancelling')
    cancel()
    asked?.(signal)
  })
  for (const reader of readers) reader.on('error', cancel)
  try {
    return await follow()
  } finally {
    stopListening()
    for (const reader of readers) reader.off('error', cancel)
  }
}
