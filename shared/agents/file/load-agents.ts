// Loads agent files into Agents for gateway and executor, and those of guests into Guests for fronts. Commands, URLs and keys come in only
// here. They leave in an Agent only, never in a record.
// All mistakes of all files are reported at once. One mistake refuses all agents of
// the call.
// Secrets come from the environment, and no message shows the value of a variable.
// Reading runs nothing: the file of a module tool must exist, but is not imported.

import { readdirSync, statSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { limits } from '../../contract/limits.ts'
import { protectAgentFile } from '../../lib/sandbox/own-paths.ts'
import { type Document, readDocument } from '../../settings/document.ts'
import { alternatives, cannotUse, type Mistake, type Place, shown } from '../../settings/mistake.ts'
import { readText, unreadable } from '../../settings/text-file.ts'
import { agentToolMistakes } from '../agent-tool.ts'
import type { Agent, Agents } from '../agents.ts'
import type { Guest, Guests } from '../guest.ts'
import { summariserMistake } from '../summariser.ts'
import { agentOf } from './parts/agent-part.ts'
import { guestOf } from './parts/guest-part.ts'
import { schemaMistakes } from './schema-mistakes.ts'
import { type KnownRecords, type LoadOptions, needs, noProviders, type Source } from './source.ts'

/** Agent files of one folder. */
const agentFilesMax = 1_000

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
  const readings = readAll(
    path,
    (file) => read(file, environment, options, known),
    (all) => [...(needs(options, 'model') ? unknownSummarisers(all) : []), ...wrongAgentTools(all)],
  )
  return new Map(
    readings.flatMap(({ agent }) => (agent === undefined ? [] : [[agent.name, agent]])),
  )
}

/** The guests of a file or a folder, without other agents. Throws as `loadAgents`. */
export function loadGuests(path: string): Guests {
  const readings = readAll(path, (file) => read(file, {}, { needs: [] }, noProviders))
  return new Map(
    readings.flatMap(({ guest }) => (guest === undefined ? [] : [[guest.name, guest]])),
  )
}

/** `check`: the mistakes that only all files together show. */
function readAll<Provider extends string>(
  path: string,
  read: (file: string) => Reading<Provider>,
  check: (readings: Reading<Provider>[]) => Mistake[] = () => [],
): Reading<Provider>[] {
  const found = agentFilesAt(path)
  const readings = found.files.map(read)
  const mistakes = [
    ...found.mistakes,
    ...readings.flatMap((reading) => reading.mistakes),
    ...sameNames(readings),
    ...check(readings),
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
  guest?: Guest
  placeOf: Document['placeOf']
  mistakes: Mistake[]
}

function unknownSummarisers(readings: readonly Reading<string>[]): Mistake[] {
  const names = readings.flatMap(({ agent }) => (agent === undefined ? [] : [agent.name]))
  return readings.flatMap(({ file, agent, placeOf }) => {
    const text = agent && summariserMistake(agent, names)
    const path = ['history', 'summarise']
    return text === undefined ? [] : [{ file, ...placeOf(path), path, text }]
  })
}

function wrongAgentTools(readings: readonly Reading<string>[]): Mistake[] {
  const agents = new Map(readings.flatMap(({ agent }) => (agent ? [[agent.name, agent]] : [])))
  return readings.flatMap(({ file, agent, placeOf }) =>
    [...(agent === undefined ? [] : agentToolMistakes(agent, agents))].map(([index, text]) => {
      const path = ['tools', index, 'agent']
      return { file, ...placeOf(path), path, text }
    }),
  )
}

function read<Provider extends string>(
  file: string,
  environment: NodeJS.ProcessEnv,
  options: LoadOptions,
  known: KnownRecords<Provider>,
): Reading<Provider> {
  const start: Place = { line: 1, column: 1 }
  const refused = (mistakes: Mistake[]): Reading<Provider> => ({
    file,
    placeOf: () => start,
    mistakes,
  })
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
    placeOf: document.placeOf,
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

// ── The files of a folder ──

const endings = ['.yaml', '.yml', '.json']

/** In the order of their names. */
export function agentFilesAt(path: string): { files: string[]; mistakes: Mistake[] } {
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
  if (files.length > agentFilesMax)
    return refused(`has ${files.length} agent files; must have at most ${agentFilesMax}`)
  return { files, mistakes: [] }
}

function isAgentFile(name: string): boolean {
  return endings.includes(extname(name)) && !name.startsWith('.') && !/\.schema\.[a-z]+$/.test(name)
}

function sameNames(readings: Reading<string>[]): Mistake[] {
  const first = new Map<string, string>()
  return readings.flatMap(({ file, agent, guest, placeOf }) => {
    const name = agent?.name ?? guest?.name ?? ''
    if (name === '') return []
    const other = first.get(name)
    if (other !== undefined)
      return [
        {
          file,
          ...placeOf(['name']),
          path: ['name'],
          text: `is ${shown(name)}, the name of the agent in ${other} already; give it another`,
        },
      ]
    first.set(name, file)
    return []
  })
}
