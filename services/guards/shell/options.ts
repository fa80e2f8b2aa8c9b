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

type Check = { ok(value: unknown): boolean; accepted: string; required?: true }

const aName: Check = { ok: isText, accepted: 'a name' }
const aFolder: Check = {
  ok: isFolder,
  accepted: 'an absolute path without . and .. and without * and ?',
}

const checks: Record<keyof ShellGuardOptions, Check> = {
  name: aName,
  tools: {
    ok: (value) => isList(value) && value.every(isText),
    accepted: "the names of the tools that run commands, e.g. ['bash']",
    required: true,
  },
  allowedFolders: {
    ok: (value) => isList(value) && value.every(isFolder),
    accepted:
      "the absolute folders below which commands may write, without . and .., e.g. ['/work']",
    required: true,
  },
  argument: aName,
  workingFolder: aFolder,
  folderArgument: aName,
  home: aFolder,
  onlyCommands: { ok: isList, accepted: 'names of commands, or leave it out to allow any' },
  deadlineMs: {
    ok: (value) => Number(value) >= 1 && Number(value) <= limits.guardDeadlineMsMax,
    accepted: `milliseconds from 1 to ${limits.guardDeadlineMsMax}`,
  },
}

export type ShellRules = {
  argument: string
  folderArgument: string | undefined
  allowedFolders: readonly string[]
  workingFolder: string | undefined
  home: string | undefined
  onlyCommands: ReadonlySet<string> | undefined
}

export function shellRules(options: ShellGuardOptions): ShellRules {
  const unknown = keyFault(options, Object.keys(checks))
  if (unknown !== undefined)
    throw new WeirError('settings.invalid', `the shell guard's options have ${unknown}`)
  for (const [option, { ok, accepted, required }] of Object.entries(checks)) {
    const value = options[option as keyof ShellGuardOptions]
    if (ok(value) || (value === undefined && required === undefined)) continue
    throw new WeirError(
      'settings.invalid',
      `the shell guard's ${option} is ${JSON.stringify(value)?.slice(0, 200) ?? 'missing'}. Give it ${accepted}.`,
    )
  }
  return {
    argument: options.argument ?? 'command',
    folderArgument: options.folderArgument,
    allowedFolders: options.allowedFolders.map(withoutSlashes),
    workingFolder: options.workingFolder && withoutSlashes(options.workingFolder),
    home: options.home && withoutSlashes(options.home),
    onlyCommands: options.onlyCommands && new Set(options.onlyCommands),
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0
}

function isFolder(value: unknown): boolean {
  const odd = /^[^/]|^$|(^|\/)\.{1,2}(\/|$)|[*?\uE000-\uE005\0]/
  return typeof value === 'string' && !odd.test(value)
}

function withoutSlashes(folder: string): string {
  return folder === '/' ? '/' : folder.replace(/\/+/g, '/').replace(/\/$/, '')
}
