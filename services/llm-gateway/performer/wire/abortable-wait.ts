// Waits that end on abort: slow work (a table, a provider) must not keep a performer from closing.

export const stopped = Symbol('stopped')

/**
 * The reason of every abort. Shared, because a DOMException with its stack costs more than the
 * abort.
 */
export const noLongerWanted: Error = Object.assign(new Error('it is no longer wanted'), {
  name: 'AbortError',
})

/**
 * Resolves to the result of `work`, or to `stopped` once `stop` aborts. After that the result or
 * error of `work` is ignored.
 */
export async function orStopped<T>(
  stop: AbortSignal,
  work: Promise<T>,
): Promise<T | typeof stopped> {
  const waiting = waitingUntil(stop)
  try {
    return await waiting.for(work)
  } finally {
    waiting.end()
  }
}

export type Waiting = {
  /** Like orStopped. One wait at a time. */
  for<T>(work: Promise<T>): Promise<T | typeof stopped>
  end(): void
}

/**
 * For many waits in a row: adds one listener to the signal and not one for each piece of a stream.
 */
export function waitingUntil(stop: AbortSignal): Waiting {
  let leave = (): void => undefined
  const onAbort = (): void => leave()
  stop.addEventListener('abort', onAbort, { once: true })
  return {
    for: (work) =>
      new Promise((resolve, reject) => {
        leave = () => resolve(stopped)
        if (stop.aborted) leave()
        work.then(resolve, reject)
      }),
    end: () => stop.removeEventListener('abort', onAbort),
  }
}
