// Loads agent files into Agents for gateway and executor, and those of guests into Guests for fronts. Commands, URLs and keys come in only
// here. They leave in an Agent only, never in a record.
// LOAD-AGENTS-1. All mistakes of all files are reported at once. One mistake refuses all agents of
//     the call.
// LOAD-AGENTS-2. Secrets come from the environment, and no message shows the value of a variable.
// LOAD-AGENTS-3. Reading runs nothing: the file of a module tool must exist, but is not imported.

import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { limits } from '../../contract/limits.ts'
import { protectAgentFile, protectOwnPath } from '../../lib/sandbox/own-paths.ts'
import { type Document, readDocument } from '../../settings/document.ts'
import { alternatives, cannotUse, type Mistake, type Place, shown } from '../../settings/mistake.ts'
import { readText, unreadable } from '../../settings/text-file.ts'
import type { Agent, Agents, Model } from '../agents.ts'
import { defaultGuestSettings, type GuestAgent, type Guests } from '../guest.ts'
import type { AgentContent } from './content.ts'
import { modelOf } from './model-part.ts'
import { schemaMistakes } from './schema-mistakes.ts'
import { settingsOf } from './settings-part.ts'
import {
  exists,
  type KnownRecords,
  type LoadOptions,
  needs,
  referred,
  type Source,
} from './source.ts'
import { hintsOf } from './tool-hints.ts'
import { toolsOf } from './tool-part.ts'

/**
 * The agents of a file, or of all `*.yaml`, `*.yml` and `*.json` files of a folder, without guests.
 * Subfolders, hidden files and `*.schema.*` (schemas of tools) are skipped. `environment`: the
 * values of `${NAME}`. Throws `agent.invalid` with every mistake (cannotUse).
 */
export function loadAgents<Provider extends string>(
  path: string,
  environment: NodeJS.ProcessEnv,
  options: LoadOptions,
  known: KnownRecords<Provider>,
): Agents<Provider> {
  const readings = readAll(path, (file) => read(file, environment, options, known))
  return new Map(
    readings.flatMap(({ agent }) => (agent === undefined ? [] : [[agent.name, agent]])),
  )
}

/** The guests of a file or a folder, without other agents. Throws as `loadAgents`. */
export function loadGuests(path: string): Guests {
  const known: KnownRecords = { providers: [{ name: '', keyVariable: '' }] }
  const readings = readAll(path, (file) => read(file, {}, { needs: [] }, known))
  return new Map(
    readings.flatMap(({ guest }) => (guest === undefined ? [] : [[guest.name, guest]])),
  )
}

function readAll<Provider extends string>(
  path: string,
  read: (file: string) => Reading<Provider>,
): Reading<Provider>[] {
  const found = agentFilesAt(path)
  const readings = found.files.map(read)
  const mistakes = [
    ...found.mistakes,
    ...readings.flatMap((reading) => reading.mistakes),
    ...sameNames(readings),
  ]
  if (mistakes.length > 0) throw cannotUse(mistakes)
  return readings
}

/** The agent of one file. Throws `agent.invalid` with every mistake. */
export function loadAgentFile<Provider extends string>(
  file: string,
  environment: NodeJS.ProcessEnv,
  options: LoadOptions,
  known: KnownRecords<Provider>,
): Agent<Provider> {
  const { agent, mistakes } = read(file, environment, options, known)
  if (agent === undefined || mistakes.length > 0) throw cannotUse(mistakes)
  return agent
}

type Reading<Provider extends string> = {
  file: string
  agent?: Agent<Provider>
  guest?: Required<GuestAgent>
  namePlace: Place
  mistakes: Mistake[]
}

function read<Provider extends string>(
  file: string,
  environment: NodeJS.ProcessEnv,
  options: LoadOptions,
  known: KnownRecords<Provider>,
): Reading<Provider> {
  const start: Place = { line: 1, column: 1 }
  const refused = (mistakes: Mistake[]): Reading<Provider> => ({ file, namePlace: start, mistakes })
  const mistake = (text: string, line = 1): Mistake => ({ file, line, column: 1, path: [], text })

  if (!endings.includes(extname(file)))
    return refused([mistake(`is not an agent file; its name must end in ${alternatives(endings)}`)])
  protectAgentFile(file)
  const content = readText(file, limits.agentFileBytesMax)
  if ('fault' in content) return refused([mistake(content.fault, content.line)])
  const { document, mistakes } = readDocument(file, content.text)
  if (document === undefined) return refused(mistakes)
  if (document.value === null)
    return refused([
      ...mistakes,
      mistake('is empty; must be a mapping with name, system, model and tools'),
    ])

  const checked = schemaMistakes(document.value)
  for (const { path, text, part } of checked.mistakes)
    mistakes.push({ file, ...document.placeOf(path, part), path, text })
  const source = sourceOf({ file, document, mistakes, environment, options, known })
  const { content: keys } = checked
  return {
    file,
    ...(keys.guest === undefined
      ? { agent: agentOf(source, keys) }
      : { guest: guestOf(source, keys) }),
    namePlace: document.placeOf(['name']),
    mistakes,
  }
}

type Parts<Provider extends string> = {
  file: string
  document: Document
  mistakes: Mistake[]
  environment: NodeJS.ProcessEnv
  options: LoadOptions
  known: KnownRecords<Provider>
}

function sourceOf<Provider extends string>({
  file,
  document,
  mistakes,
  environment,
  options,
  known,
}: Parts<Provider>): Source<Provider> {
  return {
    ...options,
    ...known,
    file,
    folder: resolve(dirname(file)),
    environment,
    refuse: (path, text) => mistakes.push({ file, ...document.placeOf(path), path, text }),
    report: (others) => mistakes.push(...others),
  }
}

/** Always returns an agent. If there are mistakes, it is never used. */
function agentOf<Provider extends string>(
  source: Source<Provider>,
  content: AgentContent,
): Agent<Provider> {
  return {
    name: nameOf(source, content),
    system: needs(source, 'model') ? systemOf(source, content) : '',
    model: needs(source, 'model') ? modelOf(source, content.model ?? {}) : modelElsewhere(source),
    tools: toolsOf(source, content.tools ?? [], content.sandbox),
    settings: settingsOf(content),
    ...textCallsIn(source, refuseHints(source, content)),
  }
}

function refuseHints(source: Source, content: AgentContent): AgentContent {
  if (content.hints !== undefined)
    source.refuse(['hints'], 'goes with guest only; write the hints of a tool in tools')
  return content
}

const ofAgentsOnly = [
  ...(['model', 'system', 'systemFile', 'tools', 'sandbox', 'textCalls'] as const),
  ...(['attempts', 'stallMs', 'firstByteMs', 'toolTries'] as const),
]

function guestOf(source: Source, content: AgentContent): Required<GuestAgent> {
  for (const key of ofAgentsOnly)
    if (key in content)
      source.refuse(
        [key],
        'does not go with guest; remove it, because a guest owns its model and its tools',
      )
  const hints = Object.entries(content.hints ?? {}).flatMap(([name, given]) => {
    // The tools of a guest are known only from its requests, so any field may exist.
    const made = hintsOf(source, ['hints', name], given ?? {}, '{}')
    return made === null ? [] : [[name, made] as const]
  })
  return {
    name: nameOf(source, content),
    settings: settingsOf(content, defaultGuestSettings),
    hints: Object.fromEntries(hints),
  }
}

/** A model without native calls calls no tool at all if its text calls do not run. */
function textCallsIn(source: Source, { textCalls, model }: AgentContent): Pick<Agent, 'textCalls'> {
  if (textCalls === undefined) return {}
  if (model?.toolCalls === 'text' && textCalls !== 'run')
    source.refuse(
      ['textCalls'],
      `is ${textCalls}; must be run with model.toolCalls: text, because that model has no other calls`,
    )
  return { textCalls }
}

/** A stand-in: other processes send the requests. */
function modelElsewhere<Provider extends string>({ providers }: Source<Provider>): Model<Provider> {
  return { provider: providers[0].name, name: '', apiKey: '', maxOutputTokens: 1 }
}

function nameOf(source: Source, content: AgentContent): string {
  if ('name' in content) return content.name ?? ''
  const fileName = basename(source.file, extname(source.file))
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(fileName))
    source.refuse(
      ['name'],
      `is missing, and the file's name ${shown(fileName)} cannot stand in; must be 1 to 64 of a-z, 0-9 and -`,
    )
  return fileName
}

function systemOf(source: Source, { system, systemFile }: AgentContent): string {
  if (system !== undefined || systemFile === undefined) return system ?? ''
  const file = referred(source, ['systemFile'], systemFile)
  if (file === undefined || !exists(source, ['systemFile'], file, 'file')) return ''
  protectOwnPath(file.path)
  const content = readText(file.path, limits.agentFileBytesMax)
  const fault =
    'fault' in content ? content.fault : content.text.trim() === '' ? 'is blank' : undefined
  if (fault !== undefined)
    source.refuse(['systemFile'], `refers to ${shown(file.name)}, which ${fault}`)
  return 'text' in content ? content.text : ''
}

// ── The files of a folder ──

const endings = ['.yaml', '.yml', '.json']

/** In the order of their names. */
function agentFilesAt(path: string): { files: string[]; mistakes: Mistake[] } {
  const refused = (text: string) => ({
    files: [],
    mistakes: [{ file: path, line: 1, column: 1, path: [], text }],
  })
  let names: string[]
  try {
    if (!statSync(path).isDirectory()) return { files: [path], mistakes: [] }
    names = readdirSync(path)
  } catch (error) {
    return refused(unreadable(error))
  }
  const files = names
    .filter(isAgentFile)
    .sort()
    .map((name) => join(path, name))
  if (files.length === 0)
    return refused(
      `contains no agent file; must contain at least one file that ends in ${alternatives(endings)}`,
    )
  if (files.length > limits.agentFilesMax)
    return refused(`has ${files.length} agent files; must have at most ${limits.agentFilesMax}`)
  return { files, mistakes: [] }
}

function isAgentFile(name: string): boolean {
  return endings.includes(extname(name)) && !name.startsWith('.') && !/\.schema\.[a-z]+$/.test(name)
}

function sameNames(readings: Reading<string>[]): Mistake[] {
  const first = new Map<string, string>()
  return readings.flatMap(({ file, agent, guest, namePlace }) => {
    const name = agent?.name ?? guest?.name ?? ''
    if (name === '') return []
    const other = first.get(name)
    if (other !== undefined)
      return [
        {
          file,
          ...namePlace,
          path: ['name'],
          text: `is ${shown(name)}, the name of the agent in ${other} already; give it another`,
        },
      ]
    first.set(name, file)
    return []
  })
}
