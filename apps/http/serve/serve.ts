// `weir serve`: the HTTP edge in its own process, until SIGTERM or SIGINT. On a data folder it also
// runs the stages if no other process does. On Kafka they run elsewhere.

import type { Writable } from 'node:stream'
import { agentsInFiles } from '../../../client/agents/agents-in-files.ts'
import { secretsOf } from '../../../shared/agents/secrets.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { serviceSettings } from '../../service/service-settings.ts'
import type { SettingFlags } from '../../terminal/command-settings.ts'
import { type EdgeFlags, edgeOptionsOf } from '../edge/edge-flags.ts'
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
  const log = createLog({ level: settings.logLevel, secrets: secretsOf(written) })
  const weir = await openEdgeWeir(settings, { stages: 'auto', log })
  try {
    const server = await startEdgeWithConsole(settings, { ...edgeOptions, weir, log })
    const until = untilStopped(weir.failed, log)
    out.write(
      options.json
        ? `${JSON.stringify({ url: server.url, port: server.port })}\n`
        : `Weir answers at ${server.url}. Ctrl-C ends it.\n`,
    )
    return await servedToTheEnd(until, server)
  } finally {
    await weir.close()
  }
}
