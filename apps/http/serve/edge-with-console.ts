// The edge of a command, with the console of the same log.

import { closedOnFailure } from '../../../client/place/closed-on-failure.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { openConsole } from '../console/console-protocol.ts'
import { type EdgeOptions, startEdge } from '../edge/edge.ts'
import type { HttpServer } from '../server.ts'
import type { WebhookOptions } from '../webhook/webhook.ts'

/** Throws as startEdge, and errors of opening the log. The log must exist. */
export async function startEdgeWithConsole(
  settings: Settings,
  { webhook, ...options }: EdgeOptions & { webhook?: WebhookOptions | undefined },
): Promise<HttpServer> {
  const pages = await openConsole(settings, options.log, webhook)
  const server = await closedOnFailure(pages, () =>
    startEdge({ ...options, more: [pages.protocol] }),
  )
  return {
    ...server,
    async close() {
      await server.close()
      await pages.close()
    },
  }
}
