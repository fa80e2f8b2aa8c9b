// Waiting that ends when the work is no longer wanted: whoever is slow (a table, a provider) must
// not keep a closing performer.

export const stopped = Symbol('stopped')

/**
 * Why anything is aborted here: one error for all, because making a DOMException with its stack for
 * each attempt costs more than the abort.
 */
export const noLongerWanted: Error = Object.assign(new Error('it is no longer wanted'), {
  name: 'AbortError',
})

/**
 * What `work` comes to, or `stopped` as soon as `stop` aborts; then nobody looks at what becomes of
 * the work, also not if it fails.
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
  /** As orStopped; one at a time. */
  for<T>(work: Promise<T>): Promise<T | typeof stopped>
  end(): void
}

/**
 * For who waits often: a stream of small pieces would otherwise add a listener to the signal for
 * each of them.
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
