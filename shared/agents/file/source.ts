// An agent file while it is read: its folder, the environment, and its list of mistakes. A reader
// adds each mistake and goes on with a stand-in value. An agent with a mistake is never used.

import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isExecutable } from '../../lib/files/executable.ts'
import { type Mistake, type Path, shown } from '../../settings/mistake.ts'
import { nearestName } from '../../settings/nearest-name.ts'
import { unreadable } from '../../settings/text-file.ts'
import type { ReasoningEffort } from '../agents.ts'
import { expand } from './variables.ts'

export type LoadOptions = {
  /**
   * The reason why a JSON Schema is unusable. Undefined: it is usable. Only callers that may import
   * the validator can pass it. Without it, only the form of a schema is checked.
   */
  checkSchema?: (schema: string) => string | undefined
  /**
   * The parts that the process uses. Default: both. Without `model` the agent has no real model and
   * no system text, and without `tools` no runnable tool. Their variables, files and programs need
   * not exist. Name, settings and declarations are always read.
   */
  needs?: readonly AgentPart[]
}

/** `model`: for llm-gateway. `tools`: for the executor. */
export type AgentPart = 'model' | 'tools'

export function needs({ needs: parts }: LoadOptions, part: AgentPart): boolean {
  return parts === undefined || parts.includes(part)
}

/** Records from higher folders that agent files name. The caller passes them in. */
export type KnownRecords<Provider extends string = string> = {
  providers: readonly [KnownProvider<Provider>, ...KnownProvider<Provider>[]]
}

/** Where no model is read: guests and MCP servers. */
export const noProviders: KnownRecords = {
  providers: [
    {
      name: '',
      keyVariable: '',
      accepts: { reasoningEffort: [], serviceTier: [], seed: false, endMark: false },
    },
  ],
}

type KnownProvider<Name extends string> = {
  name: Name
  keyVariable: string
  accepts: AcceptedOptions
}

/** The values of options that a provider's API has. */
export type AcceptedOptions = {
  reasoningEffort: readonly ReasoningEffort[]
  serviceTier: readonly string[]
  seed: boolean
  endMark: boolean
}

export type Source<Provider extends string = string> = LoadOptions &
  KnownRecords<Provider> & {
    /** Its name in mistakes. */
    file: string
    /** Its folder. Relative paths start there. */
    folder: string
    /** It is a program, whose texts mean themselves: `${NAME}` is no variable. */
    isCode?: boolean
    environment: NodeJS.ProcessEnv
    /** Adds a mistake at this path of the file. */
    refuse(path: Path, text: string): void
    /** Adds mistakes in a file that this one refers to. */
    report(mistakes: Mistake[]): void
  }

/**
 * The text with its variables replaced. Undefined after a mistake. `secrets` gets the values that
 * stand in it now.
 */
export function expanded(
  source: Source,
  path: Path,
  text: string,
  secrets: string[] = [],
): string | undefined {
  const { environment, isCode } = source
  if (isCode === true) return text
  const result = expand(text, source)
  for (const variable of result.unset) source.refuse(path, unsetText(variable, environment))
  for (const variable of result.empty)
    source.refuse(path, `needs the variable ${variable}, which is empty`)
  for (const fault of result.faults) source.refuse(path, fault)
  secrets.push(...result.values)
  return result.text
}

/** Shows names only, never the value of a variable. */
export function unsetText(variable: string, environment: NodeJS.ProcessEnv): string {
  const near = nearestName(variable, Object.keys(environment))
  const advice = near === undefined ? 'set it' : `set it, or did you mean ${near}?`
  return `needs the variable ${variable}, which is not set; ${advice}`
}

/**
 * A file or folder that an agent file refers to. `name`: for messages, with unexpanded variables.
 */
export type Referred = { path: string; name: string }

/** The path that a text in the file names, relative to `folder`. Undefined after a mistake. */
export function referred(
  source: Source,
  path: Path,
  text: string,
  folder = source.folder,
): Referred | undefined {
  const relative = expanded(source, path, text)
  if (relative === undefined) return undefined
  if (relative.includes('\0')) {
    source.refuse(path, 'has a NUL character, which a path cannot have; remove it')
    return undefined
  }
  return { path: resolve(folder, relative), name: text }
}

type Kind = 'file' | 'folder' | 'program' | 'path'

/** Whether it exists and is of this kind. If not, adds a mistake. */
export function exists(
  source: Source,
  path: Path,
  { path: file, name }: Referred,
  kind: Kind,
): boolean {
  const fault = faultOf(file, kind, source.isCode)
  if (fault !== undefined) source.refuse(path, `refers to ${shown(name)}, which ${fault}`)
  return fault === undefined
}

function faultOf(file: string, kind: Kind, isCode = false): string | undefined {
  try {
    const stat = statSync(file)
    if (kind === 'path') return undefined
    if (kind === 'folder') return stat.isDirectory() ? undefined : 'is not a folder'
    if (!stat.isFile()) return 'is not a file'
    if (kind === 'program')
      return isExecutable(file) ? undefined : 'is not executable; set its execute bit'
    accessSync(file, constants.R_OK)
    return undefined
  } catch (error) {
    const start =
      kind === 'program'
        ? 'its path starts at cwd'
        : `paths start at the ${isCode ? 'working folder' : 'folder of this file'}`
    return `${unreadable(error)}; ${start}`
  }
}
