// A place of a script, with all facts for judging a command there. Also the checks that all parts
// of the guard share.

import type { SyntaxNode } from 'unbash'
import type { Environment, Outcome } from './environment.ts'
import { isPipe, isUnknown } from './field.ts'
import type { ShellRules } from './options.ts'
import { isBeneath, isInside, resolved } from './paths.ts'
import { Refusal, shown } from './refusal.ts'
import { printsSecret, secretIn } from './secrets.ts'

/** The input of a command. */
export type Input =
  | { kind: 'nothing' }
  | { kind: 'net' }
  | { kind: 'pipe' }
  | { kind: 'file'; path: string }
  | { kind: 'text'; text: string }

export type Place = {
  rules: ShellRules
  environment: Environment
  home: string | undefined
  input: Input
  /** Whether another command reads this one's output. */
  isRead: boolean
  /** Nesting depth of scripts at this place. */
  depth: number
  /**
   * Environments at `break`, `continue` and `return`, gathered by the loop or function around them.
   */
  leaps: Environment[]
  /** Shared by the whole judgement: files from the net, and the steps done so far. */
  whole: { fetched: Set<string>; steps: number }
  /** The functions that walk an inner script, for commands that run one. */
  walk: {
    text(script: string, place: Place): Outcome
    node(node: SyntaxNode, place: Place): Outcome
  }
}

const stepsMax = 12_000
/** Characters of words per step: long words take longer. */
const stepCharacters = 256
const depthMax = 8

/** Bounds the work for one command, including nested loops and functions. */
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
  return { ...place, depth: place.depth + 1 }
}

export function checkSecret(field: string, place: Place): void {
  step(place, field.length)
  const secret = secretIn(field, place.environment.cwds)
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
 * `what`: the command or redirection that writes. `beneath`: the allowed folder itself is forbidden
 * too.
 */
export function checkWrite(
  field: string,
  what: string,
  place: Place,
  { beneath = false }: { beneath?: boolean } = {},
): void {
  if (isPipe(field) && field.length === 1) return
  for (const cwd of field.startsWith('/') ? ['/'] : (place.environment.cwds ?? [undefined])) {
    const path = resolved(field, cwd)
    if (path === undefined) throw unknowable(field, what, place)
    if (devices.test(path)) continue
    if (
      place.rules.allowedFolders.some((folder) =>
        beneath ? isBeneath(path, folder) : isInside(path, folder),
      )
    )
      continue
    const leads = path === field ? '' : ` (${shown(path)})`
    throw new Refusal(
      'write-outside',
      `${what} would change "${shown(field)}"${leads}, which is not below ${allowed(place)}`,
      advice(place, cwd),
    )
  }
}

function unknowable(field: string, what: string, place: Place): Refusal {
  const isRelative = !field.startsWith('/') && !isUnknown(field)
  const why = isRelative
    ? 'the folder that it begins in is not known there'
    : 'a part of it is only known when the command runs'
  return new Refusal(
    'unknowable',
    `${what} would change "${shown(field)}", and ${why}`,
    `Write the path out: absolute and below ${allowed(place)}.`,
  )
}

function advice(place: Place, cwd: string | undefined): string {
  const several = cwd !== undefined && (place.environment.cwds?.length ?? 1) > 1
  const cd = several ? ' A cd may fail: join it to what follows with &&.' : ''
  return `Change only what is below ${allowed(place)}.${cd}`
}

export function allowed({ rules }: Place): string {
  return rules.allowedFolders.map((folder) => shown(folder)).join(' or ')
}

/** All possible paths of a file. Relative paths in unknown folders stay relative. */
export function placesOf(field: string, { environment }: Place): string[] {
  const cwds = field.startsWith('/') ? ['/'] : (environment.cwds ?? [undefined])
  return cwds.map((cwd) => resolved(field, cwd) ?? field)
}

const fetchedMax = 1_000

export function rememberFetched(field: string, place: Place): void {
  for (const path of placesOf(field, place)) {
    if (place.whole.fetched.size >= fetchedMax)
      throw new Refusal(
        'unknowable',
        'it fetches too many files',
        'Split it into several shorter commands.',
      )
    place.whole.fetched.add(path)
  }
}

export function wasFetched(field: string, place: Place): boolean {
  return placesOf(field, place).some((path) => place.whole.fetched.has(path))
}
