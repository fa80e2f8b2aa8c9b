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
  /** Default 1000. */
  deadlineMs?: number
}

const optionNames = Object.keys({
  name: true,
  tools: true,
  allowedFolders: true,
  argument: true,
  workingFolder: true,
  folderArgument: true,
  home: true,
  onlyCommands: true,
  deadlineMs: true,
} satisfies Record<keyof ShellGuardOptions, true>)

export type ShellRules = {
  argument: string
  folderArgument: string | undefined
  allowedFolders: readonly string[]
  workingFolder: string | undefined
  home: string | undefined
  onlyCommands: ReadonlySet<string> | undefined
}

export function shellRules(options: ShellGuardOptions): ShellRules {
  const unknown = keyFault(options, optionNames)
  if (unknown !== undefined)
    throw new WeirError('settings.invalid', `the shell guard's options have ${unknown}`)
  if (
    !Array.isArray(options.tools) ||
    options.tools.length === 0 ||
    !options.tools.every((tool) => typeof tool === 'string' && tool !== '')
  )
    throw invalid('tools', options.tools, "the names of the tools that run commands, e.g. ['bash']")
  if (!Array.isArray(options.allowedFolders) || options.allowedFolders.length === 0)
    throw invalid(
      'allowedFolders',
      options.allowedFolders,
      "the folders below which commands may write, e.g. ['/work']",
    )
  for (const text of ['argument', 'folderArgument', 'name'] as const)
    if (options[text] !== undefined && (typeof options[text] !== 'string' || options[text] === ''))
      throw invalid(text, options[text], 'a name')
  if (
    options.onlyCommands !== undefined &&
    (!Array.isArray(options.onlyCommands) || options.onlyCommands.length === 0)
  )
    throw invalid(
      'onlyCommands',
      options.onlyCommands,
      'names of commands, or leave it out to allow any',
    )
  if (
    options.deadlineMs !== undefined &&
    !(options.deadlineMs >= 1 && options.deadlineMs <= limits.guardDeadlineMsMax)
  )
    throw invalid(
      'deadlineMs',
      options.deadlineMs,
      `milliseconds from 1 to ${limits.guardDeadlineMsMax}`,
    )
  return {
    argument: options.argument ?? 'command',
    folderArgument: options.folderArgument,
    allowedFolders: options.allowedFolders.map((folder) => folderOption('allowedFolders', folder)),
    workingFolder:
      options.workingFolder === undefined
        ? undefined
        : folderOption('workingFolder', options.workingFolder),
    home: options.home === undefined ? undefined : folderOption('home', options.home),
    onlyCommands: options.onlyCommands && new Set(options.onlyCommands),
  }
}

function folderOption(option: string, folder: unknown): string {
  if (
    typeof folder !== 'string' ||
    !folder.startsWith('/') ||
    /(^|\/)\.{1,2}(\/|$)|[*?\uE000-\uE005\0]/.test(folder)
  )
    throw invalid(option, folder, 'absolute paths without . and .. and without * and ?')
  return folder === '/' ? '/' : folder.replace(/\/+/g, '/').replace(/\/$/, '')
}

function invalid(option: string, value: unknown, accepted: string): WeirError {
  return new WeirError(
    'settings.invalid',
    `the shell guard's ${option} is ${JSON.stringify(value)?.slice(0, 200) ?? 'missing'}. Give it ${accepted}.`,
  )
}
