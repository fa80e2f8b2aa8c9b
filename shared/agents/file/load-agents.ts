// Agent files: what an operator writes about an agent, as an Agent that gateway and executor can
// work with. This is the only place where commands, URLs and keys come in, and they leave it in an
// Agent only, never in a record.
// LOAD-AGENTS-1. All mistakes of all files are reported at once. An agent with a mistake is not
//     used, nor is any other one of the same call.
// LOAD-AGENTS-2. Secrets come from the environment, and no message shows what a variable holds.
// LOAD-AGENTS-3. Reading runs nothing: a module tool is looked for, not imported.

import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { limits } from '../../contract/limits.ts'
import { type Document, readDocument } from '../../settings/document.ts'
import { alternatives, cannotUse, type Mistake, type Place, shown } from '../../settings/mistake.ts'
import { readText, unreadable } from '../../settings/text-file.ts'
import type { Agent, Agents } from '../agents.ts'
import type { AgentContent } from './content.ts'
import { modelOf } from './model-part.ts'
import { schemaMistakes } from './schema-mistakes.ts'
import { settingsOf } from './settings-part.ts'
import { exists, type KnownRecords, type LoadOptions, referred, type Source } from './source.ts'
import { toolsOf } from './tool-part.ts'

/**
 * The agents of a file, or of all `*.yaml`, `*.yml` and `*.json` files of a folder; not of its
 * subfolders, and without `*.schema.*` (schemas of tools) and hidden files. `environment`: what
 * `${NAME}` stands for. Throws `agent.invalid`, which lists every mistake (cannotUse).
 */
export function loadAgents(
  path: string,
  environment: NodeJS.ProcessEnv,
  options: LoadOptions,
  known: KnownRecords,
): Agents {
  const found = agentFilesAt(path)
  const readings = found.files.map((file) => read(file, environment, options, known))
  const mistakes = [
    ...found.mistakes,
    ...readings.flatMap((reading) => reading.mistakes),
    ...sameNames(readings),
  ]
  if (mistakes.length > 0) throw cannotUse(mistakes)
  return new Map(
    readings.flatMap(({ agent }) => (agent === undefined ? [] : [[agent.name, agent]])),
  )
}

/** The agent of one file. Throws `agent.invalid`, which lists every mistake. */
export function loadAgentFile(
  file: string,
  environment: NodeJS.ProcessEnv,
  options: LoadOptions,
  known: KnownRecords,
): Agent {
  const { agent, mistakes } = read(file, environment, options, known)
  if (agent === undefined || mistakes.length > 0) throw cannotUse(mistakes)
  return agent
}

type Reading = { file: string; agent?: Agent; namePlace: Place; mistakes: Mistake[] }

function read(
  file: string,
  environment: NodeJS.ProcessEnv,
  options: LoadOptions,
  known: KnownRecords,
): Reading {
  const start: Place = { line: 1, column: 1 }
  const refused = (mistakes: Mistake[]): Reading => ({ file, namePlace: start, mistakes })
  const complaint = (text: string, line = 1): Mistake => ({ file, line, column: 1, path: [], text })

  if (!endings.includes(extname(file)))
    return refused([complaint(`is no agent file; its name must end in ${alternatives(endings)}`)])
  const content = readText(file, limits.agentFileBytesMax)
  if ('fault' in content) return refused([complaint(content.fault, content.line)])
  const { document, mistakes } = readDocument(file, content.text)
  if (document === undefined) return refused(mistakes)
  if (document.value === null)
    return refused([
      ...mistakes,
      complaint('is empty; must be a mapping with name, system, model and tools'),
    ])

  const checked = schemaMistakes(document.value)
  for (const { path, text, part } of checked.complaints)
    mistakes.push({ file, ...document.placeOf(path, part), path, text })
  const source = sourceOf({ file, document, mistakes, environment, options, known })
  return {
    file,
    agent: agentOf(source, checked.content),
    namePlace: document.placeOf(['name']),
    mistakes,
  }
}

type Parts = {
  file: string
  document: Document
  mistakes: Mistake[]
  environment: NodeJS.ProcessEnv
  options: LoadOptions
  known: KnownRecords
}

function sourceOf({ file, document, mistakes, environment, options, known }: Parts): Source {
  return {
    ...options,
    ...known,
    file,
    folder: resolve(dirname(file)),
    environment,
    complain: (path, text) => mistakes.push({ file, ...document.placeOf(path), path, text }),
    report: (others) => mistakes.push(...others),
  }
}

/** An agent in any case; where mistakes were found, nobody gets it. */
function agentOf(source: Source, content: AgentContent): Agent {
  return {
    name: nameOf(source, content),
    system: source.forMessages ? '' : systemOf(source, content),
    model: source.forMessages ? askedElsewhere : modelOf(source, content.model ?? {}),
    tools: toolsOf(source, content.tools ?? []),
    settings: settingsOf(content),
  }
}

const askedElsewhere: Agent['model'] = {
  provider: '',
  name: '',
  apiKey: '',
  maxOutputTokens: 1,
}

function nameOf(source: Source, content: AgentContent): string {
  if ('name' in content) return content.name ?? ''
  const fileName = basename(source.file, extname(source.file))
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(fileName))
    source.complain(
      ['name'],
      `is missing, and the file's name ${shown(fileName)} cannot stand in; must be 1 to 64 of a-z, 0-9 and -`,
    )
  return fileName
}

function systemOf(source: Source, { system, systemFile }: AgentContent): string {
  if (system !== undefined || systemFile === undefined) return system ?? ''
  const file = referred(source, ['systemFile'], systemFile)
  if (file === undefined || !exists(source, ['systemFile'], file, 'file')) return ''
  const content = readText(file.path, limits.agentFileBytesMax)
  const fault =
    'fault' in content ? content.fault : content.text.trim() === '' ? 'is blank' : undefined
  if (fault !== undefined)
    source.complain(['systemFile'], `refers to ${shown(file.name)}, which ${fault}`)
  return 'text' in content ? content.text : ''
}

// ── Which files ──

const endings = ['.yaml', '.yml', '.json']

/** In the order of their names. */
function agentFilesAt(path: string): { files: string[]; mistakes: Mistake[] } {
  const complaint = (text: string) => ({
    files: [],
    mistakes: [{ file: path, line: 1, column: 1, path: [], text }],
  })
  let names: string[]
  try {
    if (!statSync(path).isDirectory()) return { files: [path], mistakes: [] }
    names = readdirSync(path)
  } catch (error) {
    return complaint(unreadable(error))
  }
  const files = names
    .filter(isAgentFile)
    .sort()
    .map((name) => join(path, name))
  if (files.length === 0)
    return complaint(
      `has no agent file in it; must have at least one file that ends in ${alternatives(endings)}`,
    )
  if (files.length > limits.agentFilesMax)
    return complaint(`has ${files.length} agent files; must have at most ${limits.agentFilesMax}`)
  return { files, mistakes: [] }
}

function isAgentFile(name: string): boolean {
  return endings.includes(extname(name)) && !name.startsWith('.') && !/\.schema\.[a-z]+$/.test(name)
}

function sameNames(readings: Reading[]): Mistake[] {
  const first = new Map<string, string>()
  return readings.flatMap(({ file, agent, namePlace }) => {
    if (agent === undefined || agent.name === '') return []
    const other = first.get(agent.name)
    if (other !== undefined)
      return [
        {
          file,
          ...namePlace,
          path: ['name'],
          text: `is ${shown(agent.name)}, the name of the agent in ${other} already; give it another`,
        },
      ]
    first.set(agent.name, file)
    return []
  })
}
