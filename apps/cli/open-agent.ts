// Opens Weir for a command with one agent: on the embedded bus with the stages in the owner of the
// data folder, which may be this process, otherwise on Kafka.

import { agentsInFiles } from '../../client/agents/agents-in-files.ts'
import type { StagesChoice } from '../../client/place/stages-choice.ts'
import { Weir, type WeirOptions } from '../../client/weir.ts'
import { optionsOfSettings } from '../../client/weir-options.ts'
import { secretsOf } from '../../shared/agents/secrets.ts'
import { busKindOf, busNamesWhere } from '../../shared/bus/kinds.ts'
import type { AnyGuard } from '../../shared/contract/guard/guard.ts'
import { usageError, WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { isStage, modeOf, registeredGuards } from '../../shared/runtime/guards/guard-registry.ts'
import { alternatives } from '../../shared/settings/mistake.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { withLog } from '../history/open-log.ts'
import { guardNamed } from '../service/guards/named-guard.ts'
import type { Screen } from '../terminal/live-screen.ts'
import { logSentence } from '../terminal/text/log-sentence.ts'

/** Guards to run in this process (see guards/named-guard.ts), and the mode of all of them. */
type GuardFiles = { guard?: string[]; guardMode?: 'shadow' | 'enforce' }

/** `runImported`, `stages`: see WeirOptions. */
export type AgentOptions = GuardFiles & { runImported?: boolean; stages?: StagesChoice }

/** Warns of guards that stay in force after this run: later runs wait for them. */
export async function warnOfActiveGuards(
  { guard: files = [] }: GuardFiles,
  settings: Settings,
  screen: Screen,
): Promise<void> {
  if (files.length === 0) return
  const active = (await withLog(settings, registeredGuards)).filter(
    (guard) => !isStage(guard.name) && modeOf(guard) !== 'shadow',
  )
  for (const { name } of active)
    screen.print(
      `guard ${name} stays in force: without it, calls wait until its deadline. To stop this: weir guard mode ${name} shadow, or weir guard remove ${name}`,
    )
}

/**
 * `agent`: the path of an agent file, or of a folder with one. Log lines go to the screen.
 */
export async function openAgent(
  agent: string,
  settings: Settings,
  screen: Screen,
  { runImported = false, stages = 'auto', ...guardFiles }: AgentOptions = {},
): Promise<{ weir: Weir; name: string }> {
  const guards = await guardsOf(guardFiles, settings)
  // Other processes have the key and the programs of the agent.
  const isElsewhere = stages === 'elsewhere' || (stages === 'auto' && !busKindOf(settings).isLocal)
  const agents = agentsInFiles(agent, process.env, isElsewhere ? [] : undefined)
  const log = createLog({
    level: settings.logLevel,
    secrets: secretsOf(agents),
    destination: {
      write(line) {
        const text = logSentence(line)
        if (text !== undefined) screen.print(text)
      },
    },
  })
  const weir = await open({
    agents,
    ...optionsOfSettings(settings),
    ...guards,
    stages,
    runImported,
    log,
  })
  const [name, another] = [...weir.agents.keys()]
  if (name !== undefined && another === undefined) return { weir, name }
  await weir.close()
  throw usageError(`${agent} has ${weir.agents.size} agents: name one agent file with --agent`)
}

async function guardsOf(
  { guard: files = [], guardMode: mode }: GuardFiles,
  settings: Settings,
): Promise<Pick<WeirOptions, 'guards'>> {
  if (files.length === 0) return {}
  const { isLocal, title } = busKindOf(settings)
  if (!isLocal) {
    const locals = busNamesWhere((kind) => kind.isLocal)
    throw usageError(
      `--guard needs stages in this process (--bus ${alternatives(locals)}); on ${title}, start the guard with weir guard run`,
    )
  }
  const guards: AnyGuard[] = []
  for (const given of files) guards.push(await guardNamed(given))
  return { guards: { guards, ...(mode && { mode }) } }
}

async function open(options: WeirOptions): Promise<Weir> {
  try {
    return await Weir.open(options)
  } catch (error) {
    throw error instanceof WeirError && error.code === 'bus.locked'
      ? inUse(options.dataFolder ?? '', error)
      : error
  }
}

function inUse(dataFolder: string, cause: WeirError): WeirError {
  const holder = /process \d+/.exec(cause.message)?.[0] ?? 'another process'
  const advice =
    'It accepts no other processes. Wait until it ends, or use another data folder: --data-folder FOLDER'
  return new WeirError(
    'bus.locked',
    `the data folder ${dataFolder} is in use by ${holder}. ${advice}`,
    { cause },
  )
}
