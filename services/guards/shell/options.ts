// The operator's options for the shell guard, checked at its start.

import { limits } from '../../../shared/contract/limits.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { keyFault } from '../../../shared/runtime/guards/key-fault.ts'

export type ShellGuardOptions = {
  /** Default `shell`. */
  name?: string
  /** Patterns of the tools that run shell commands, e.g. `bash` or `shell_*`. */
  tools: string[]
  /** Absolute folders below which a command may write. At least one. */
  allowedFolders: string[]
  /**
   * The argument that holds the command: a string for Bash, or an array of strings for a program
   * with its arguments. Default `command`.
   */
  argument?: string
  /**
   * The folder in which the tool's shell starts. Without it, relative paths can be judged only
   * after a `cd` to an absolute one.
   */
  workingFolder?: string
  /** An argument in which a call may name another folder to start in. */
  folderArgument?: string
  /**
   * The home of the tool's user, for `~` and `$HOME`. Without it both are unknown: reading below
   * them passes, and writing does not.
   */
  home?: string
  /**
   * If given, the names of the only commands that may run. A script's functions and the shell's
   * keywords need not be named.
   */
  onlyCommands?: string[]
  /** Further programs that a command may run, with any arguments, like programs of the project. */
  alsoCommands?: string[]
  /** For a command that the guard does not know or cannot judge: default `deny`, or `ask` a person. */
  onUnknown?: 'deny' | 'ask'
  /** Default 1000. */
  deadlineMs?: number
}

const aFolder = 'an absolute path without . and .. and without * and ?'

type Check = [accepts: (value: unknown) => boolean, form: string]
const checks: Record<keyof ShellGuardOptions, Check> = {
  name: [isText, 'a name'],
  tools: [isListOf(isText), "the names of the tools that run commands, e.g. ['bash']"],
  allowedFolders: [isListOf(isFolder), `a list of folders, each ${aFolder}`],
  argument: [isText, 'a name'],
  workingFolder: [isFolder, aFolder],
  folderArgument: [isText, 'a name'],
  home: [isFolder, aFolder],
  onlyCommands: [isListOf(isText), 'names of commands, or leave it out to allow any'],
  alsoCommands: [isListOf(isText), 'names of commands, or leave it out'],
  onUnknown: [(value) => value === 'deny' || value === 'ask', 'deny or ask'],
  deadlineMs: [
    (value) => typeof value === 'number' && value >= 1 && value <= limits.guardDeadlineMsMax,
    `milliseconds from 1 to ${limits.guardDeadlineMsMax}`,
  ],
}

export type ShellRules = {
  argument: string
  folderArgument: string | undefined
  allowedFolders: readonly string[]
  workingFolder: string | undefined
  home: string | undefined
  onlyCommands: ReadonlySet<string> | undefined
  alsoCommands: ReadonlySet<string>
  onUnknown: 'deny' | 'ask'
}

export function shellRules(options: ShellGuardOptions): ShellRules {
  const unknown = keyFault(options, Object.keys(checks))
  if (unknown !== undefined)
    throw new WeirError('settings.invalid', `the shell guard's options have ${unknown}`)
  for (const [option, [accepts, form]] of Object.entries(checks)) {
    const value = options[option as keyof ShellGuardOptions]
    const isOptional = option !== 'tools' && option !== 'allowedFolders'
    if (accepts(value) || (value === undefined && isOptional)) continue
    throw new WeirError(
      'settings.invalid',
      `the shell guard's ${option} is ${JSON.stringify(value)?.slice(0, 200) ?? 'missing'}. Give it ${form}.`,
    )
  }
  return {
    argument: options.argument ?? 'command',
    folderArgument: options.folderArgument,
    allowedFolders: options.allowedFolders.map(withoutSlashes),
    workingFolder: options.workingFolder && withoutSlashes(options.workingFolder),
    home: options.home && withoutSlashes(options.home),
    onlyCommands: options.onlyCommands && new Set(options.onlyCommands),
    alsoCommands: new Set(options.alsoCommands),
    onUnknown: options.onUnknown ?? 'deny',
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isListOf(isOne: (value: unknown) => boolean) {
  return (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isOne)
}

function isFolder(value: unknown): boolean {
  const odd = /^[^/]|^$|(^|\/)\.{1,2}(\/|$)|[*?\uE000\uE001\0]/
  return typeof value === 'string' && !odd.test(value)
}

function withoutSlashes(folder: string): string {
  return folder === '/' ? '/' : folder.replace(/\/+/g, '/').replace(/\/$/, '')
}
