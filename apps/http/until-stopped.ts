// The end of a process that serves: a signal, or a stage that cannot go on.

import type { Logger } from 'pino'
import { listenForInterrupts } from '../terminal/interrupts.ts'

type Served = { close(): Promise<void> }

export type UntilStopped = {
  /** The exit code: 0 after a signal or `stop`, 1 after `failed`. Never rejects. */
  ended: Promise<0 | 1>
  stop(): void
  /** From then on a signal kills the process. */
  release(): void
}

/** `failed`: rejects with the first stage that cannot go on. */
export function untilStopped(failed: Promise<never>, log: Logger): UntilStopped {
  const { promise: ended, resolve } = Promise.withResolvers<0 | 1>()
  const stop = (): void => resolve(0)
  const release = listenForInterrupts(stop)
  failed.catch((error: unknown) => {
    log.fatal({ err: error }, 'a stage cannot go on')
    resolve(1)
  })
  return { ended, stop, release }
}

/** Waits for the end and closes the server. Resolves to the exit code. */
export async function servedToTheEnd(
  { ended, release }: Pick<UntilStopped, 'ended' | 'release'>,
  server: Served,
): Promise<0 | 1> {
  try {
    return await ended
  } finally {
    release()
    await server.close()
  }
}
