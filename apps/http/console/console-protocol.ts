// The console as one more protocol of the edge, with its own reader of the log.

import type { Logger } from 'pino'
import { closedOnFailure } from '../../../client/place/closed-on-failure.ts'
import { lateSearch } from '../../../client/search/late-search.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { openLog } from '../../history/open-log.ts'
import type { Protocol } from '../edge/edge-context.ts'
import { openWebhook, type WebhookOptions } from '../webhook/webhook.ts'
import { webhookFeed } from '../webhook/webhook-feed.ts'
import type { ConsoleParts } from './console-parts.ts'
import { consoleApi, consoleFiles } from './console-routes.ts'
import { type ConsoleReader, openConsoleReader } from './state/console-reader.ts'

export type Console = { protocol: Protocol; close(): Promise<void> }

/**
 * Opens the log of the settings for reading, next to the processes that write it. Throws as withLog,
 * and `usage` for a bad secret of the webhook.
 */
export async function openConsole(
  settings: Settings,
  log: Logger,
  webhook?: WebhookOptions,
): Promise<Console> {
  const open = await openLog(settings)
  const search = lateSearch(open, settings)
  const parts = { log: open, source: busKindOf(settings).place, settings, search }
  return closedOnFailure(open.bus, () => consoleOn(parts, log, webhook))
}

async function consoleOn(
  parts: Omit<ConsoleParts, 'reader'>,
  log: Logger,
  options: WebhookOptions | undefined,
): Promise<Console> {
  const { bus, topicPrefix } = parts.log
  const { clock } = bus
  const webhook = options && openWebhook(options, { log, clock: systemClock })
  const feed = webhook && webhookFeed(webhook, clock)
  const closing = new AbortController()
  const reader = await openConsoleReader({
    bus,
    topicPrefix,
    log,
    ...(feed && { onMessage: feed.add }),
  })
  if (feed !== undefined)
    void untilRead(reader, closing.signal).then(feed.caughtUp, (error: unknown) =>
      log.error({ err: error }, 'the webhook cannot begin'),
    )
  return {
    protocol: {
      name: 'console',
      routes: (context) => consoleApi(context, { ...parts, reader }),
      publicRoutes: consoleFiles,
    },
    async close() {
      closing.abort()
      webhook?.close()
      await reader.close()
      await parts.search.close()
      await bus.close()
    },
  }
}

/** Resolves once the reader has read all records, or at the abort. */
async function untilRead(reader: ConsoleReader, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { version } = reader
    if ((await reader.state()).health.behind === 0) return
    await reader.changed(version, signal)
  }
}
