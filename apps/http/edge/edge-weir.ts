// Weir for the edge of a command, from the settings.

import type { Logger } from 'pino'
import { agentsInFiles, agentsOfProgram } from '../../../client/agents/agents-in-files.ts'
import { agentsInModule, isModule } from '../../../client/agents/agents-in-module.ts'
import { Weir, type WeirOptions } from '../../../client/weir.ts'
import { optionsOfSettings } from '../../../client/weir-options.ts'
import { secretsOf } from '../../../shared/agents/secrets.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import type { Settings } from '../../../shared/settings/settings.ts'

/** The agents of the settings, in files or in a module, with their secrets. */
export async function agentsOfSettings(
  settings: Settings,
): Promise<{ agents: WeirOptions['agents']; secrets: string[] }> {
  const { agents: path } = settings
  if (path === '') return { agents: noAgents, secrets: [] }
  const needs = busKindOf(settings).isLocal ? undefined : [] // it may run the stages of a folder
  if (!isModule(path))
    return { agents: path, secrets: secretsOf(agentsInFiles(path, process.env, needs)) }
  const agents = await agentsInModule(path)
  return { agents, secrets: secretsOf(agentsOfProgram(agents, process.env, needs)) }
}

const noAgents: WeirOptions['agents'] = []

/** Whether the settings name no agents. */
export function isWithoutAgents(agents: WeirOptions['agents']): boolean {
  return agents === noAgents
}

/** Without agents it runs no stages: it reads, decides and cancels. Throws as Weir.open. */
export async function openEdgeWeir(
  settings: Settings,
  {
    stages,
    log,
    agents,
  }: { stages: NonNullable<WeirOptions['stages']>; log: Logger; agents: WeirOptions['agents'] },
): Promise<Weir> {
  return Weir.open({
    ...optionsOfSettings(settings),
    agents,
    stages: isWithoutAgents(agents) ? 'elsewhere' : stages,
    log,
  })
}
