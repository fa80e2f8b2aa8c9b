// The console as one more protocol of the edge, with its own reader of the log.

import type { Logger } from 'pino'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { openLog } from '../../history/open-log.ts'
import type { Protocol } from '../edge/edge-context.ts'
import type { ConsoleParts } from './console-parts.ts'
import { openConsoleReader } from './console-reader.ts'
import { consoleApi, consoleFiles } from './console-routes.ts'

export type Console = { protocol: Protocol; close(): Promise<void> }

/**
 * Opens the log of the settings for reading, beside the processes that write it. Throws as withLog.
 */
export async function openConsole(settings: Settings, log: Logger): Promise<Console> {
  const open = await openLog(settings)
  return consoleOn({ log: open, source: busKindOf(settings).place, settings }, log).catch(
    async (error: unknown) => {
      await open.bus.close()
      throw error
    },
  )
}

async function consoleOn(parts: Omit<ConsoleParts, 'reader'>, log: Logger): Promise<Console> {
  const { bus, topicPrefix } = parts.log
  const reader = await openConsoleReader({ bus, topicPrefix, log })
  return {
    protocol: {
      name: 'console',
      routes: (context) => consoleApi(context, { ...parts, reader }),
      publicRoutes: consoleFiles,
    },
    async close() {
      await reader.close()
      await bus.close()
    },
  }
}
