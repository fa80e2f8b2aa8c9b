// An agent program of another maker as a row of data. The row has its package, the way to name its
// model's URL, the command of a run without questions, and the place of its answer.

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Host } from '../../../apps/http/hosts/host.ts'
import type { HostEnded, HostFolder, HostRun } from '../host-run.ts'
import { installed, type NpmPackage, type PythonPackages, versionOf } from '../installed-hosts.ts'
import type { ScriptedCall } from '../model-server.ts'

/** `url`: the model's address without a path. */
export type Place = { url: string; home: string; work: string }

export type PluginCells = {
  /** In `integrations`. */
  folder: string
  /** The calls that run without Weir, for readers of the table. Undefined: no call runs. */
  open?: string
}

/** A plug-in of this repository, which the host's own commands install. */
export type Plugin = PluginCells & {
  install: readonly string[][]
  /** A function: the host has no command for it, so the user edits a file below the home. */
  uninstall: readonly string[][] | ((home: string) => void)
  /** A file or folder below its home, and a text or name in it while the plug-in is installed. */
  settings: { file: string; names: string }
  /** Weir can end a turn. Otherwise it denies the calls of a model that obeys no text. */
  endsTurns?: true
  /** Weir judges the calls that the host itself refuses, such as one without its argument. */
  seesRefusals?: true
}

/** The cells of a host in the table "works with". */
export type WorksWith = {
  /** The way to name the URL of its model. Undefined: Weir has no proxy for its API. */
  way?: string
  /** A text: the reason why there is none. Undefined: the program owns its loop and needs none. */
  plugin?: PluginCells | string
}

export type Program = WorksWith & {
  plugin?: Plugin | string
  /** Its name for people, and on the command line of the suite. */
  title: string
  package: NpmPackage | PythonPackages
  /** Its tool for commands. */
  shell: {
    name: string
    argument: string
    /** Whether the argument is a list of commands. */
    isList?: boolean
    /** Further arguments that its schema requires. */
    more?: Record<string, unknown>
  }
  /** Files below its home. */
  files?: (place: Place) => Record<string, string>
  environment?: (place: Place) => Record<string, string>
  /** Arguments of a command before the run, such as a login with a key. */
  setup?: (place: Place) => string[]
  /** The arguments of a run with one prompt. `more`: arguments of a case. */
  args(text: string, place: Place, more: readonly string[]): string[]
  /** The last text of the model, as the host shows it to its user. */
  reply(ended: HostEnded): string
  /** The id of the session of a run, for a host whose sessions a case resumes. */
  sessionOf?: (ended: HostEnded) => string
  /** Its hooks, if Weir can serve them. */
  hooks?: Host
  /** The call that ends a run, if a text alone does not. The host then asks the model once more. */
  finish?: (text: string) => ScriptedCall
  /** Its own loop detection ends honest polls, as it does without Weir. */
  endsPolls?: boolean
  /** It repairs arguments that are no JSON and runs the call, so a loop of them is one of successes. */
  repairsArguments?: boolean
  /** The text in place of an output that it loses now and then, also without Weir. */
  lostOutput?: string
  /** A text does not end its run: it asks the model again, in the name of its user. */
  goesOn?: boolean
  /** The reason why Weir cannot judge its calls, in words for the table. */
  unjudged?: string | undefined
}

export const prompt = 'Do the task.'

export function nameOf(program: Program): string {
  return `${program.title} ${versionOf(program.package)}`
}

export type RunOptions = { url: string; text?: string; more?: readonly string[] }

/** Throws NotInstalled. */
export async function startProgram(
  program: Program,
  folder: HostFolder,
  { url, text = prompt, more = [] }: RunOptions,
): Promise<HostRun> {
  const command = await installed(program.package)
  const place = { url, home: folder.home, work: folder.work }
  await placeFiles(program, place)
  const environment = program.environment?.(place) ?? {}
  if (program.setup !== undefined)
    await folder.start(command, program.setup(place), environment).ended
  return folder.start(command, program.args(text, place, more), environment)
}

export async function placeFiles({ files }: Program, place: Place): Promise<void> {
  for (const [name, content] of Object.entries(files?.(place) ?? {})) {
    const file = join(place.home, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
}

/** A call of its tool for commands. */
export function command({ shell }: Program, text: string, more = {}): ScriptedCall {
  const value = shell.isList ? [text] : text
  return {
    name: shell.name,
    input: JSON.stringify({ [shell.argument]: value, ...shell.more, ...more }),
  }
}

/** The last line of a program that prints texts. */
export function lastLine({ out }: HostEnded): string {
  return plain(out).trimEnd().split('\n').at(-1)?.trim() ?? ''
}

/** Without the codes of a terminal. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes begin with ESC
  return text.replace(/\u001b\[[\d;?]*[A-Za-z]/g, '')
}
