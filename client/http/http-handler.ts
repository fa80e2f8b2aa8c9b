// The HTTP handler of a program: the face of a server that opens in the background.
// Here: the handler and its options. Not here: the routes (apps/http), which load with the first
// request.

import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Answers a request of the web with every protocol of `weir serve`. Rejects if the options of the handler
 * cannot be used, such as a missing file of keys. The log has the reason too.
 */
export type HttpHandler = {
  (request: Request): Promise<Response>
  /** The same for `node:http` and Express. Nothing may have read the body before. */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>
}

export type OpenedHandler = {
  fetch(request: Request): Promise<Response>
  node(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Ends its open streams. */
  close(): Promise<void>
}

/** The first requests wait for `opening`. */
export function handlerOf(
  opening: Promise<OpenedHandler>,
): HttpHandler & Pick<OpenedHandler, 'close'> {
  opening.catch(() => {}) // its log line has the reason, and each request gets it
  return Object.assign(async (request: Request) => (await opening).fetch(request), {
    async node(request: IncomingMessage, response: ServerResponse) {
      const opened = await opening.catch(() => undefined)
      if (opened === undefined) response.writeHead(500).end()
      else await opened.node(request, response)
    },
    async close() {
      const [opened] = await Promise.allSettled([opening])
      if (opened.status === 'fulfilled') await opened.value.close()
    },
  })
}
