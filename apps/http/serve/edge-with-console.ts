// The edge with the console of the same log: in a server of a command, or as a handler for a program.

import { closedOnFailure } from '../../../client/place/closed-on-failure.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { openConsole } from '../console/console-protocol.ts'
import { loginProtocol } from '../console/login-routes.ts'
import {
  type EdgeApp,
  type EdgeAppOptions,
  type EdgeOptions,
  openEdgeApp,
  startEdge,
} from '../edge/edge.ts'
import type { Protocol } from '../edge/edge-context.ts'
import type { HttpServer } from '../server.ts'
import type { WebhookOptions } from '../webhook/webhook.ts'

type WithWebhook = { webhook?: WebhookOptions | undefined }

/** Throws as startEdge, and errors of opening the log. The log must exist. */
export async function startEdgeWithConsole(
  settings: Settings,
  { webhook, ...options }: EdgeOptions & WithWebhook,
): Promise<HttpServer> {
  const pages = await openConsole(settings, options.log, webhook)
  const server = await closedOnFailure(pages, () =>
    startEdge({ ...options, more: [...loginOf(options), pages.protocol] }),
  )
  return {
    ...server,
    async close() {
      await server.close()
      await pages.close()
    },
  }
}

function loginOf({ access: { oidc } }: Pick<EdgeAppOptions, 'access'>): Protocol[] {
  return oidc?.login === undefined ? [] : [loginProtocol(oidc, oidc.login)]
}

/** As startEdgeWithConsole, without a server. */
export async function openEdgeWithConsole(
  settings: Settings,
  { webhook, ...options }: EdgeAppOptions & WithWebhook,
): Promise<Omit<EdgeApp, 'close'> & { close(): Promise<void> }> {
  const pages = await openConsole(settings, options.log, webhook)
  const edge = await closedOnFailure(pages, async () =>
    openEdgeApp({ ...options, more: [...loginOf(options), pages.protocol] }),
  )
  return {
    ...edge,
    async close() {
      edge.close()
      await pages.close()
    },
  }
}
