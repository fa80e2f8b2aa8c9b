// A place of a script: the known facts there, and the checks that all parts of the guard share.
// Paths are resolved by their text alone, because a guard cannot see the disk.
//
// SHELL-PLACE-1. A variable that gets a second value may have any text from there on. Folders only
//     grow, except behind `cd … &&`. So leaving a loop early or a script adds no case.

import { anything, isUnknown, nameOf, pipeName, resolved } from './field.ts'
import type { ShellRules } from './options.ts'
import { Refusal, shown } from './refusal.ts'
import { printsSecret, secretIn } from './secrets.ts'

export type State = {
  /** Folders that the shell may be in. Undefined: any. A relative path must be allowed from each. */
  folders: readonly string[] | undefined
  /** A missing variable may have any text. */
  variables: ReadonlyMap<string, string>
}

/** The facts after a success, and after a success or failure. */
export type Outcome = { ok: State; any: State }

/** The input of a command. `names`: a list of files below the folder of the shell. */
export type Input =
  | { kind: 'nothing' | 'net' | 'pipe' | 'names' }
  | { kind: 'file'; path: string }
  | { kind: 'text'; text: string }

export type Place = {
  rules: ShellRules
  state: State
  input: Input
  /** Whether another command reads this one's output. */
  isRead: boolean
  /** Nesting depth of scripts at this place. */
  depth: number
  /**
   * Shared by the whole judgement: the names of files from the net, the steps done so far, and
   * whether it looks for its parent or sends signals.
   */
  whole: { fetched: Set<string>; steps: number; parent: boolean; signals: boolean }
  /** Walks an inner script, for commands that run one. */
  walk(script: string, place: Place): Outcome
}

const stepsMax = 12_000
/** Characters of words per step: long words need more work. */
const stepCharacters = 256
const depthMax = 8
const foldersMax = 8
const variablesMax = 256
const valueMax = 4_096

/** Bounds the work for one command, including nested loops. */
export function step({ whole }: Place, characters = 0): void {
  whole.steps += 1 + characters / stepCharacters
  if (whole.steps > stepsMax)
    throw new Refusal(
      'unknowable',
      'it is too long or too entangled to be judged',
      'Split it into several shorter commands.',
    )
}

export function deeper(place: Place): Place {
  if (place.depth < depthMax) return { ...place, depth: place.depth + 1 }
  throw new Refusal(
    'unknowable',
    `it nests more than ${depthMax} scripts in each other`,
    'Write it without so much nesting.',
  )
}

// ── Facts ──

export function both(state: State): Outcome {
  return { ok: state, any: state }
}

/** Bash itself sets these at other times. */
const managed =
  /^(_|PWD|OLDPWD|REPLY|MAPFILE|OPT\w+|S?RANDOM|SECONDS|LINENO|PPID|BASH\w*|PIPESTATUS|DIRSTACK|EPOCH\w+|E?UID|SHLVL)$/

/** `value` undefined: any text. Keeps SHELL-PLACE-1. */
export function assigned(state: State, name: string, value: string | undefined): State {
  const before = state.variables.get(name)
  return withVariable(state, name, value === (before ?? value) ? value : undefined)
}

/** Sets a variable that only this value can reach here, such as that of a loop. */
export function withVariable(state: State, name: string, value: string | undefined): State {
  if (!state.variables.has(name) && state.variables.size >= variablesMax)
    throw new Refusal(
      'unknowable',
      `it sets more than ${variablesMax} variables`,
      'Split it into several shorter commands.',
    )
  const isKnown = value !== undefined && value.length <= valueMax && !managed.test(name)
  return { ...state, variables: new Map(state.variables).set(name, isKnown ? value : anything) }
}

export function unknownVariables(state: State): State {
  return [...state.variables.keys()].reduce((next, name) => assigned(next, name, undefined), state)
}

/** The facts that hold where two paths meet. Returns `one` if `other` adds no case. */
export function joined(one: State, other: State): State {
  if (one === other) return one
  const folders = one.folders && other.folders && [...new Set([...one.folders, ...other.folders])]
  const names = new Set([...one.variables.keys(), ...other.variables.keys()])
  const unlike = [...names].filter((name) => one.variables.get(name) !== other.variables.get(name))
  const changed = unlike.filter((name) => one.variables.get(name) !== anything)
  const grown = folders !== undefined && folders.length <= foldersMax ? folders : undefined
  if (changed.length === 0 && grown?.length === one.folders?.length) return one
  const variables = new Map(one.variables)
  for (const name of changed) variables.set(name, anything)
  return { folders: grown, variables }
}

// ── Paths ──

/** All possible paths of a file. Undefined: not known. */
function pathsOf(field: string, { state }: Place): (string | undefined)[] {
  const starts = field.startsWith('/') ? ['/'] : (state.folders ?? [undefined])
  return starts.map((folder) => resolved(field, folder))
}

/** Whether it may be a device or another way to an open file, such as standard input. */
export function isDevice(field: string, place: Place): boolean {
  return pathsOf(field, place).some((path) => /^\/+(dev|proc)\//.test(path ?? field))
}

export function rememberFetched(field: string, { whole }: Place): void {
  whole.fetched.add(nameOf(field))
}

/** By the last part of its name: copies in other folders count too. */
export function wasFetched(field: string, { whole }: Place): boolean {
  return whole.fetched.has(nameOf(field))
}

// ── Checks ──

export function checkSecret(field: string, place: Place): void {
  step(place, field.length)
  const secret = secretIn(field, place.state.folders)
  if (secret === undefined) return
  throw new Refusal(
    'secret',
    `"${shown(field)}" names a secret (${shown(secret)})`,
    'Do without it: commands may neither read nor change secrets. If it is none, use a file of another name.',
  )
}

/** The words of a command, including its name. */
export function checkSecrets(fields: readonly string[], place: Place): void {
  for (const field of fields) checkSecret(field, place)
  if (printsSecret(fields))
    throw new Refusal(
      'secret',
      `${shown(fields.slice(0, 3).join(' '))} prints a secret`,
      'Do without it: commands may neither read nor change secrets.',
    )
}

const devices = /^\/dev\/(null|stdout|stderr|stdin|tty|full|fd\/\d+)$/

/**
 * `what`: the command or redirection that writes. `removes`: the allowed folder itself is forbidden
 * too.
 */
export function checkWrite(field: string, what: string, place: Place, removes = false): void {
  if (field === pipeName) return
  const { allowedFolders } = place.rules
  const allowed = allowedFolders.map((folder) => shown(folder)).join(' or ')
  for (const path of pathsOf(field, place)) {
    if (path === undefined) throw unknowable(field, what, allowed)
    if (devices.test(path)) continue
    if (allowedFolders.some((one) => isInside(path, one) && (path !== one || !removes))) continue
    const leads = path === field ? '' : ` (${shown(path)})`
    const several = !field.startsWith('/') && (place.state.folders?.length ?? 1) > 1
    throw new Refusal(
      'write-outside',
      `${what} would change "${shown(field)}"${leads}, which is not below ${allowed}`,
      `Change only what is below ${allowed}.${several ? ' A cd may fail: join it to what follows with &&.' : ''}`,
    )
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

function unknowable(field: string, what: string, allowed: string): Refusal {
  const why =
    !field.startsWith('/') && !isUnknown(field)
      ? 'the folder that it begins in is not known there'
      : 'a part of it is only known when the command runs'
  return new Refusal(
    'unknowable',
    `${what} would change "${shown(field)}", and ${why}`,
    `Write the path out: absolute and below ${allowed}.`,
  )
}
