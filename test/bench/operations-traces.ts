// Sends all turns of a data folder as traces, as its own process. Usage: operations-traces.ts
// OPTIONS, a JSON object. Prints its CPU time after loading, in seconds.

import { traces } from '../../apps/traces/traces.ts'
import { readSettings } from '../../shared/settings/settings.ts'

export type TracesRun = { dataFolder: string; endpoint: string }

const { dataFolder, endpoint } = JSON.parse(process.argv[2] ?? '') as TracesRun
const began = process.cpuUsage()
await traces(
  { endpoint, since: 'beginning', once: true },
  readSettings({ dataFolder, logLevel: 'error' }, {}),
)
const { user, system } = process.cpuUsage(began)
process.stdout.write(`${(user + system) / 1e6}\n`)
