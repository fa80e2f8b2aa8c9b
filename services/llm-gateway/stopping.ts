// Waiting that ends when the work is no longer wanted: whoever is slow (a table, a provider) must not keep a closing performer.

export const stopped = Symbol('stopped')

/** Why anything is aborted here: one error for all, because making a DOMException with its stack for each attempt costs more than the abort. */
export const noLongerWanted: Error = Object.assign(new Error('it is no longer wanted'), { name: 'AbortError' })

/** What `work` comes to, or `stopped` as soon as `stop` aborts; then nobody looks at what becomes of the work, also not if it fails. */
export async function orStopped<T>(stop: AbortSignal, work: Promise<T>): Promise<T | typeof stopped> {
  let leave = (): void => undefined
  const left = new Promise<typeof stopped>((resolve) => {
    leave = () => resolve(stopped)
    if (stop.aborted) leave()
    else stop.addEventListener('abort', leave, { once: true })
  })
  try {
    return await Promise.race([left, work])
  } finally {
    stop.removeEventListener('abort', leave)
  }
}
