// `weir serve`: the HTTP edge in its own process, until SIGTERM or SIGINT. On a data folder it also
// runs the stages if no other process does. On Kafka they run elsewhere.

import type { Writable } from 'node:stream'
import { agentsInFiles } from '../../../client/agents/agents-in-files.ts'
import { secretsOf } from '../../../shared/agents/secrets.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { serviceSettings } from '../../service/service-settings.ts'
import type { SettingFlags } from '../../terminal/command-settings.ts'
import { consoleAddress } from '../console/console-assets.ts'
import type { OwnKey } from '../edge/access/own-key.ts'
import { type EdgeFlags, edgeOptionsOf, ownKeyFor } from '../edge/edge-flags.ts'
import { openEdgeWeir } from '../edge/edge-weir.ts'
import { servedToTheEnd, untilStopped } from '../until-stopped.ts'
import { startEdgeWithConsole } from './edge-with-console.ts'

export type ServeOptions = SettingFlags & EdgeFlags & { json?: boolean }

/** Resolves to the exit code. Throws before it starts: `usage`, and as Weir.open. */
export async function serve(options: ServeOptions, out: Writable): Promise<0 | 1> {
  const edgeOptions = edgeOptionsOf(options)
  const settings = serviceSettings(options)
  const needs = busKindOf(settings).isLocal ? undefined : [] // it may run the stages of a folder
  const written =
    settings.agents === '' ? new Map() : agentsInFiles(settings.agents, process.env, needs)
  const own = ownKeyFor(options, settings)
  const secrets = [...secretsOf(written), ...(own === undefined ? [] : [own.key])]
  const log = createLog({ level: settings.logLevel, secrets })
  const weir = await openEdgeWeir(settings, { stages: 'auto', log })
  try {
    const access = { ...edgeOptions.access, ownKey: own?.key }
    const server = await startEdgeWithConsole(settings, { ...edgeOptions, access, weir, log })
    const until = untilStopped(weir.failed, log)
    const { url, port } = server
    out.write(
      options.json ? `${JSON.stringify({ url, port, keyFile: own?.file })}\n` : greeting(url, own),
    )
    return await servedToTheEnd(until, server)
  } finally {
    await weir.close()
  }
}

/** Standard output only: no log has the key. */
function greeting(url: string, own: OwnKey | undefined): string {
  const answers = `Weir answers at ${url}. Ctrl-C ends it.\n`
  if (own === undefined) return answers
  const { key, file } = own
  return `${answers}Clients send the key in ${file}: ${key}\nThe console: ${consoleAddress(url, key)}\n`
}
