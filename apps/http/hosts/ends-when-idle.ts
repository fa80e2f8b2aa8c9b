// Ends a server that nobody asks.

import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'
import type { HttpApp } from '../server.ts'

/**
 * `watch`: the first routes of the server, which see each request. A request that is not answered yet
 * counts as asking. `end` is called at most once. `idleMs`: undefined for never.
 */
export function endsWhenIdle(
  idleMs: Milliseconds | undefined,
  clock: Clock,
  end: () => void,
): { watch(app: HttpApp): void; close(): void } {
  let running = 0
  let isOver = idleMs === undefined
  let cancel = () => {}

  function rest(): void {
    cancel()
    if (isOver || idleMs === undefined || running > 0) return
    cancel = clock.after(idleMs, () => {
      isOver = true
      end()
    })
  }

  rest()
  return {
    watch(app) {
      app.use('*', async (_, next) => {
        running += 1
        cancel()
        try {
          await next()
        } finally {
          running -= 1
          rest()
        }
      })
    },
    close() {
      isOver = true
      cancel()
    },
  }
}
