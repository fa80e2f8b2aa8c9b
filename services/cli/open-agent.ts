// Weir on the command line: the stages in this process, with the one agent that a command names.

import { WeirError } from '../../shared/errors.ts'
import { createLog } from '../../shared/log.ts'
import type { Settings } from '../../shared/settings.ts'
import { loadAgents, Weir } from '../weir.ts'
import type { Screen } from './terminal/live-screen.ts'

/** `agent`: the path of an agent file, or of a folder with one. The log's lines go to the screen. */
export async function openAgent(agent: string, settings: Settings, screen: Screen): Promise<{ weir: Weir; name: string }> {
  const agents = loadAgents(agent)
  const [name, another] = [...agents.keys()]
  if (name === undefined || another !== undefined)
    throw new WeirError('usage', `${agent} has ${agents.size} agents: name the file of one of them with --agent`)
  const { dataFolder, synchronous, partitions, topicPrefix, logLevel } = settings
  const log = createLog({ level: logLevel, destination: { write: (line) => screen.print(line) } })
  try {
    return { weir: await Weir.open({ agents, dataFolder, synchronous, partitions, topicPrefix, log }), name }
  } catch (error) {
    throw error instanceof WeirError && error.code === 'bus.locked' ? inUse(dataFolder, error) : error
  }
}

function inUse(dataFolder: string, cause: WeirError): WeirError {
  const holder = /process \d+/.exec(cause.message)?.[0] ?? 'another process'
  const advice = 'Wait for its end, or run beside it on another data folder: --data-folder FOLDER'
  return new WeirError('bus.locked', `the data folder ${dataFolder} is in use by ${holder}. ${advice}`, { cause })
}
