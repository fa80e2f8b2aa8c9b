// A place of a script, with all facts for judging a command there. Also the checks that all parts
// of the guard share.

import { isUnknown, pipeName } from './field.ts'
import type { ShellRules } from './options.ts'
import { isInside, resolved } from './paths.ts'
import { Refusal, shown } from './refusal.ts'
import { printsSecret, secretIn } from './secrets.ts'
import type { Outcome, State } from './state.ts'

/** The input of a command. */
export type Input =
  | { kind: 'nothing' | 'net' | 'pipe' }
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
  /** The states at `break` and `continue`, gathered by the loop around them. */
  leaps: State[]
  /**
   * Shared by the whole judgement: the files from the net, the steps done so far, and whether it
   * looks for its parent or sends signals.
   */
  whole: { fetched: Set<string>; steps: number; parent: boolean; signals: boolean }
  /** Walks an inner script, for commands that run one. */
  walk(script: string, place: Place): Outcome
}

const stepsMax = 12_000
/** Characters of words per step: long words need more work. */
const stepCharacters = 256
const depthMax = 8

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
  if (place.depth >= depthMax)
    throw new Refusal(
      'unknowable',
      `it nests more than ${depthMax} scripts in each other`,
      'Write it without so much nesting.',
    )
  return { ...place, depth: place.depth + 1, leaps: [] }
}

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
  for (const folder of startsOf(field, place)) {
    const path = resolved(field, folder)
    if (path === undefined) throw unknowable(field, what, allowed)
    if (devices.test(path)) continue
    if (allowedFolders.some((allowedFolder) => isInside(path, allowedFolder, !removes))) continue
    const leads = path === field ? '' : ` (${shown(path)})`
    const several = folder !== undefined && (place.state.folders?.length ?? 1) > 1
    throw new Refusal(
      'write-outside',
      `${what} would change "${shown(field)}"${leads}, which is not below ${allowed}`,
      `Change only what is below ${allowed}.${several ? ' A cd may fail: join it to what follows with &&.' : ''}`,
    )
  }
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

/** The folders in which a path may begin. */
function startsOf(field: string, { state }: Place): readonly (string | undefined)[] {
  return field.startsWith('/') ? ['/'] : (state.folders ?? [undefined])
}

/** All possible paths of a file. Relative paths in unknown folders stay relative. */
function placesOf(field: string, place: Place): string[] {
  return startsOf(field, place).map((folder) => resolved(field, folder) ?? field)
}

/** Whether it may be a device or another way to an open file, such as standard input. */
export function isDevice(field: string, place: Place): boolean {
  return placesOf(field, place).some((path) => /^\/+(dev|proc)\//.test(path))
}

export function rememberFetched(field: string, place: Place): void {
  for (const path of placesOf(field, place)) place.whole.fetched.add(path)
}

export function wasFetched(field: string, place: Place): boolean {
  return placesOf(field, place).some((path) => place.whole.fetched.has(path))
}
