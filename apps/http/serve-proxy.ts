// `weir proxy`: the model proxy with its own log and stages, until SIGTERM or SIGINT. On Kafka the
// stages run elsewhere.

import type { Writable } from 'node:stream'
import { type FrontsPlace, openFronts } from '../../client/guard/guard.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { commandSettingsWithOrigins, type SettingFlags } from '../terminal/command-settings.ts'
import { listenForInterrupts } from '../terminal/interrupts.ts'
import { portOf } from '../terminal/port-flag.ts'
import { printable } from '../terminal/printable.ts'
import { startFrontServer } from './front-server.ts'
import { isLoopback } from './server.ts'

export type ProxyCommandOptions = SettingFlags & {
  upstream: string
  host: string
  port: string
  agent: string
  json?: boolean
  allowRemote?: boolean
}

/** `weir proxy --json` prints it as its first line. */
export type ProxyAddress = { port: number; anthropicBaseUrl: string; openaiBaseUrl: string }

/** Resolves to the exit code. Throws before it starts: `usage`, `settings.invalid`, `agent.invalid`. */
export async function serveProxy(options: ProxyCommandOptions, out: Writable): Promise<0 | 1> {
  refuseOpenPort(options)
  const { kind, settings } = placeOf(options)
  const log = createLog({ level: settings.logLevel, secrets: [] })
  const fronts = await openFronts({ kind, settings }, { log })
  try {
    const server = await startFrontServer({
      ...{ fronts, host: options.host, port: portOf(options.port), agent: options.agent },
      ...{ upstream: options.upstream, log },
    })
    const stop = Promise.withResolvers<0 | 1>()
    const stopListening = listenForInterrupts(() => stop.resolve(0))
    fronts.failed.catch((error: unknown) => {
      log.fatal({ err: error }, 'a stage cannot go on')
      stop.resolve(1)
    })
    const address: ProxyAddress = {
      port: server.port,
      anthropicBaseUrl: server.url,
      openaiBaseUrl: `${server.url}/v1`,
    }
    out.write(options.json ? `${JSON.stringify(address)}\n` : textOf(address, options))
    try {
      return await stop.promise
    } finally {
      stopListening()
      await server.close()
    }
  } finally {
    await fronts.close()
  }
}

/** The server has no authentication: another machine could decide for any guest. */
function refuseOpenPort({ host, allowRemote = false }: ProxyCommandOptions): void {
  if (isLoopback(host) || allowRemote) return
  throw new WeirError(
    'usage',
    `--host ${printable(host)} is open to other machines, and the server asks for no key: give 127.0.0.1, or --allow-remote if only your agents can reach this address`,
  )
}

/** Without a place for the log it is in memory: nothing is written. */
function placeOf(options: ProxyCommandOptions): FrontsPlace {
  const found = commandSettingsWithOrigins(options)
  const settings = Object.fromEntries(
    Object.entries(found).map(([key, { value }]) => [key, value]),
  ) as Settings
  if (!busKindOf(settings).isLocal) return { kind: 'shared', settings }
  return { kind: found.dataFolder.origin.kind === 'default' ? 'memory' : 'folder', settings }
}

function textOf(
  { anthropicBaseUrl, openaiBaseUrl }: ProxyAddress,
  { upstream }: ProxyCommandOptions,
): string {
  return `The proxy guards agents and sends their requests to ${printable(upstream)}. Ctrl-C ends it.

Point an agent at it:
  ANTHROPIC_BASE_URL=${anthropicBaseUrl}
  OPENAI_BASE_URL=${openaiBaseUrl}
`
}
