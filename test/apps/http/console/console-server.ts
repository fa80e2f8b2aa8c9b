// The edge with the console, on a new folder with a scripted model, for tests.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { EdgeOptions } from '../../../../apps/http/edge/edge.ts'
import { startEdgeWithConsole } from '../../../../apps/http/serve/edge-with-console.ts'
import type { WebhookOptions } from '../../../../apps/http/webhook/webhook.ts'
import { scriptedModel } from '../../../../client/testing/testing.ts'
import { type DefinedTool, defineAgent, Weir, type WeirOptions } from '../../../../client/weir.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'

export const consolePartitions = 2

export type ConsoleServer = AsyncDisposable & {
  url: string
  weir: Weir
  folder: string
  /** Closes the server, and starts it again. */
  restart(): Promise<void>
}

export type ConsoleServerOptions = Partial<EdgeOptions> & {
  tools?: readonly DefinedTool[]
  tree?: Parameters<typeof defineAgent>[0]['tree']
  redact?: Parameters<typeof defineAgent>[0]['redact']
  approvals?: WeirOptions['approvals']
  guards?: WeirOptions['guards']
  webhook?: WebhookOptions
  /** Fills the folder before Weir opens it. */
  fill?: (folder: string) => Promise<void>
}

/** The agent is `helper`. `replies`: as for scriptedModel. */
export async function consoleServer(
  replies: Parameters<typeof scriptedModel>,
  {
    tools = [],
    redact = [],
    tree = {},
    approvals,
    guards,
    fill,
    ...options
  }: ConsoleServerOptions = {},
): Promise<ConsoleServer> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-console-'))
  await fill?.(folder)
  const log = pino({ level: 'silent' })
  const model = scriptedModel(...replies)
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools, redact, tree })
  const weir = await Weir.open({
    agents: [agent],
    dataFolder: folder,
    partitions: consolePartitions,
    log,
    ...(approvals !== undefined && { approvals }),
    ...(guards !== undefined && { guards }),
  })
  const settings = readSettings({ dataFolder: folder }, {})
  const start = () =>
    startEdgeWithConsole(settings, {
      weir,
      log,
      host: '127.0.0.1',
      port: 0,
      access: {},
      origins: [],
      ...options,
    })
  let server = await start()
  return {
    url: server.url,
    weir,
    folder,
    async restart() {
      await server.close()
      server = await start()
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      await weir.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
