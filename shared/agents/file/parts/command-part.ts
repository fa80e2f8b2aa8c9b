// A program of an agent file: its arguments, its working folder, and the variables that it sees.

import { resolve } from 'node:path'
import { isExecutable } from '../../../lib/files/executable.ts'
import { type Path, shown } from '../../../settings/mistake.ts'
import type { CommandTool } from '../../agents.ts'
import type { ToolContent } from '../content.ts'
import { exists, expanded, type Referred, referred, type Source, unsetText } from '../source.ts'
import { variableValue } from '../variables.ts'

/** `environmentKey`: the key of the names in the file. Default: environment. */
export type Surroundings = Pick<ToolContent, 'cwd' | 'environment' | 'outputBytesMax'> & {
  environmentKey?: string
}

export function commandOf(
  source: Source,
  path: Path,
  command: (string | undefined)[],
  surroundings: Surroundings,
): CommandTool {
  const { cwd = '.', environment, environmentKey, outputBytesMax } = surroundings
  const folder = referred(source, [...path, 'cwd'], cwd)
  const isThere = folder !== undefined && exists(source, [...path, 'cwd'], folder, 'folder')
  const [program = '', ...programArguments] = command.map((text, index) =>
    text === undefined ? '' : (expanded(source, [...path, 'command', index], text) ?? ''),
  )
  if (isThere && command[0] !== undefined && program !== '')
    refuseMissingProgram(source, [...path, 'command', 0], command[0], program, folder)
  return {
    kind: 'command',
    argv: [program, ...programArguments],
    cwd: folder?.path ?? source.folder,
    ...visibleOf(source, [...path, environmentKey ?? 'environment'], environment),
    ...(outputBytesMax === undefined ? {} : { outputBytesMax }),
  }
}

/**
 * The variables that a tool may see. Each must be set, because the tool needs it, but may be empty.
 */
export function visibleOf(
  source: Source,
  path: Path,
  names: ToolContent['environment'],
): Pick<CommandTool, 'environment'> {
  if (names === undefined) return {}
  for (const [index, name] of names.entries())
    if (name !== undefined && variableValue(name, source.environment) === undefined)
      source.refuse([...path, index], unsetText(name, source.environment))
  return { environment: names.filter((name) => name !== undefined) }
}

/** As execvp: a name without a slash is searched in PATH, any other starts at the tool's folder. */
function refuseMissingProgram(
  source: Source,
  path: Path,
  written: string,
  program: string,
  cwd: Referred,
): void {
  if (program.includes('/')) {
    exists(source, path, { path: resolve(cwd.path, program), name: written }, 'program')
    return
  }
  const folders = variableValue('PATH', source.environment)?.split(':') ?? []
  const isFound = folders.some((folder) => isExecutable(resolve(cwd.path, folder, program)))
  if (folders.length > 0 && !isFound)
    source.refuse(path, `is ${shown(written)}, which is not in PATH; install it, or set its path`)
}
