// `weir serve`: the HTTP edge in its own process, until SIGTERM or SIGINT. On a data folder it also
// runs the stages if no other process does. On Kafka they run elsewhere. Without agents it serves the
// history and the controls of the log, and runs no stages.

import { existsSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { serviceSettings } from '../../service/service-settings.ts'
import type { SettingFlags } from '../../terminal/command-settings.ts'
import { printable } from '../../terminal/text/printable.ts'
import { consoleAddress } from '../console/console-assets.ts'
import type { OwnKey } from '../edge/access/own-key.ts'
import { type EdgeFlags, edgeOptionsOf, withOwnKey } from '../edge/edge-flags.ts'
import { agentsOfSettings, isWithoutAgents, openEdgeWeir } from '../edge/edge-weir.ts'
import { servedToTheEnd, untilStopped } from '../until-stopped.ts'
import { startEdgeWithConsole } from './edge-with-console.ts'

export type ServeOptions = SettingFlags & EdgeFlags & { json?: boolean }

/** `isHistory`: without the agents of the settings. `onServing`: called with the address of the console. */
type ServeParts = {
  isHistory?: boolean
  onServing?: ((url: string, own: OwnKey | undefined) => void) | undefined
}

/**
 * `given`: the agents of the command line, instead of `--agents`. Resolves to the exit code. Throws before
 * it starts: `usage`, and as Weir.open.
 */
export async function serve(
  given: string | undefined,
  options: ServeOptions,
  out: Writable,
  { isHistory = false, onServing }: ServeParts = {},
): Promise<0 | 1> {
  if (given !== undefined && options.agents !== undefined)
    throw usageError(`--agents and ${printable(given)} exclude each other: leave one of them out`)
  const flagged = edgeOptionsOf(options)
  const settings = serviceSettings(given === undefined ? options : { ...options, agents: given })
  const found = await agentsOfSettings(isHistory ? { ...settings, agents: '' } : settings)
  const { agents } = found
  const hasAgents = !isWithoutAgents(agents)
  if (!hasAgents) assertServable(settings)
  const { options: edgeOptions, own, secrets: ofKey } = withOwnKey(flagged, options, settings)
  const secrets = [...found.secrets, ...ofKey]
  const log = createLog({ level: settings.logLevel, secrets })
  const weir = await openEdgeWeir(settings, { stages: 'auto', log, agents })
  try {
    const server = await startEdgeWithConsole(settings, { ...edgeOptions, weir, log })
    const until = untilStopped(weir.failed, log)
    const { url, port } = server
    const text = options.json
      ? `${JSON.stringify({ url, port, keyFile: own?.file })}\n`
      : greeting(url, own, hasAgents)
    out.write(text)
    onServing?.(url, own)
    return await servedToTheEnd(until, server)
  } finally {
    await weir.close()
  }
}

/** Throws `usage` if there is neither an agent nor a log. */
function assertServable(settings: Settings): void {
  if (hasLog(settings)) return
  throw usageError(
    `there are no agents to serve, and the data folder ${printable(settings.dataFolder)} has no log: give a module, an agent file or a folder of them (weir serve app.ts, --agents), or the folder of a Weir that has run (--data-folder)`,
  )
}

/** Whether a log is there that a server without agents can show. */
export function hasLog(settings: Settings): boolean {
  const kind = busKindOf(settings)
  return !kind.isLocal || existsSync(kind.logFile(settings))
}

/** Standard output only: no log has the key. */
function greeting(url: string, own: OwnKey | undefined, hasAgents: boolean): string {
  const scope = hasAgents ? '' : ' with the history and the controls, and without agents'
  const key = own === undefined ? '' : `Clients send the key in ${own.file}: ${own.key}\n`
  const page = `The console: ${consoleAddress(url, own?.key)}\n`
  return `Weir answers at ${url}${scope}. Ctrl-C ends it.\n${key}${page}`
}
