// An agent file while it is read: where its relative paths start, the environment, and where
// mistakes go. Whoever finds one complains and goes on with a stand-in; nothing of an agent with a
// mistake is ever used.

import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Mistake, type Path, shown } from '../../settings/mistake.ts'
import { nearestName } from '../../settings/nearest-name.ts'
import { unreadable } from '../../settings/text-file.ts'
import { expand } from './variables.ts'

export type LoadOptions = {
  /**
   * Why the text of a JSON Schema cannot be used, undefined where it can; for callers that may
   * import the validator, which knows. Without it a schema is only looked at for its form.
   */
  checkSchema?: (schema: string) => string | undefined
  /**
   * For who only sends messages: what goes with a message is read (the name, settings, declarations
   * of tools), and nothing is wanted that only this machine would need to ask the model or to run a
   * tool, such as keys and programs. Such an agent has neither.
   */
  forMessages?: boolean
}

/** Records from higher folders that agent files name. The caller passes them in. */
export type KnownRecords = {
  providers: readonly { name: string; keyVariable: string }[]
}

export type Source = LoadOptions &
  KnownRecords & {
    /** As mistakes name it. */
    file: string
    /** Its folder: where relative paths start. */
    folder: string
    environment: NodeJS.ProcessEnv
    complain(path: Path, text: string): void
    /** Mistakes in a file that this one refers to. */
    report(mistakes: Mistake[]): void
  }

/** The text with its variables replaced; undefined after a complaint. */
export function expanded(source: Source, path: Path, text: string): string | undefined {
  const { environment } = source
  const result = expand(text, environment)
  for (const variable of result.unset) source.complain(path, unsetText(variable, environment))
  for (const variable of result.empty)
    source.complain(path, `needs the variable ${variable}, which is empty`)
  if (result.malformed)
    source.complain(
      path,
      `has a \${ that names no variable; must be \${NAME}, or $\${ where these two characters are meant`,
    )
  return result.text
}

/** Names only: what a variable holds is never shown. */
export function unsetText(variable: string, environment: NodeJS.ProcessEnv): string {
  const near = nearestName(variable, Object.keys(environment))
  const advice = near === undefined ? 'set it' : `set it, or did you mean ${near}?`
  return `needs the variable ${variable}, which is not set; ${advice}`
}

/**
 * A file or folder that an agent file refers to. `name`: how to speak of it, with its variables as
 * they are written.
 */
export type Referred = { path: string; name: string }

/**
 * The path that a text in the file means; undefined after a complaint. `folder`: where it starts.
 */
export function referred(
  source: Source,
  path: Path,
  text: string,
  folder = source.folder,
): Referred | undefined {
  const relative = expanded(source, path, text)
  if (relative === undefined) return undefined
  if (relative.includes('\0')) {
    source.complain(path, 'has a NUL character, which no path can have')
    return undefined
  }
  return { path: resolve(folder, relative), name: text }
}

/** Whether it is there as what it should be; complains if not. */
export function exists(
  source: Source,
  path: Path,
  { path: file, name }: Referred,
  kind: 'file' | 'folder' | 'program',
): boolean {
  const fault = faultOf(file, kind)
  if (fault !== undefined) source.complain(path, `refers to ${shown(name)}, which ${fault}`)
  return fault === undefined
}

function faultOf(file: string, kind: 'file' | 'folder' | 'program'): string | undefined {
  try {
    const stat = statSync(file)
    if (kind === 'folder') return stat.isDirectory() ? undefined : 'is no folder'
    if (!stat.isFile()) return 'is no file'
    if (kind === 'program')
      return isExecutable(file) ? undefined : 'must not be executed; set its execute bit'
    accessSync(file, constants.R_OK)
    return undefined
  } catch (error) {
    const start =
      kind === 'program' ? 'its path starts at cwd' : 'paths start at the folder of this file'
    return `${unreadable(error)}; ${start}`
  }
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
