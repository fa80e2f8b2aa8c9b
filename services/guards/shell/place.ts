// A place of a script: the known facts there, and the checks that all parts of the guard share.
//
// Facts only fade: a variable that gets a second value may have any text from there
// on, and the folders of the shell only grow, except after `cd … &&`.

import { Denial, hidden, shown, unlisted } from './denial.ts'
import { anything, isUnknown, nameOf, resolved } from './field.ts'
import type { ShellRules } from './options.ts'
import { checkNotWeir } from './own-control.ts'
import { secretIn } from './secrets.ts'

/** The facts about one process. They change while its script is walked. */
export type Facts = {
  /** Folders that the shell may be in. Undefined: any. A relative path must be allowed from each. */
  folders: readonly string[] | undefined
  /** A missing variable may have any text. */
  variables: Map<string, string>
}

/** The standard input of a command. */
export type Input =
  | { kind: 'nothing' | 'pipe' }
  | { kind: 'file'; path: string }
  | { kind: 'text'; text: string }

/**
 * Shared by all places: steps, names of files, any use of the net, where a cd leads. `unnamed`: the
 * net may have brought files of any name. `hasFetchedRules`: it may have brought a Makefile, or the
 * like. `hasLinkUp`: a link leads up. `printed`: the words that went into a pipe.
 */
export type Whole = {
  steps: number
  named: Set<string>
  net: boolean
  unnamed: boolean
  hasLinkUp: boolean
  hasFetchedRules: boolean
  moved: Facts['folders']
  printed: string
}

export type Place = {
  rules: ShellRules
  facts: Facts
  /** Whether this place is reached for sure, once, and in the shell itself. */
  isCertain: boolean
  input: Input
  /** Whether another command reads this one's output. */
  isRead: boolean
  /** Nesting depth of scripts at this place. */
  depth: number
  whole: Whole
  /** Walks an inner script, and judges an inner command, for commands that run one. */
  walk(script: string, place: Place): void
  judge(fields: readonly string[], place: Place): void
}

const stepsMax = 12_000
/** Characters of words per step: long words need more work. */
const stepCharacters = 256
const depthMax = 8
const foldersMax = 8
const variablesMax = 256

function tooLong(): Denial {
  const advice = 'Split it into several shorter commands.'
  return new Denial('unknowable', 'it is too long or too entangled to be judged', advice)
}

/** Bounds the work for one command, including nested loops. */
export function step({ whole }: Place, characters = 0): void {
  whole.steps += 1 + characters / stepCharacters
  if (whole.steps > stepsMax) throw tooLong()
}

/** A script in another process: its changes of folder and variables stay there. */
export function apart(place: Place, variables = place.facts.variables): Place {
  if (place.depth >= depthMax) throw tooLong()
  const facts = { ...place.facts, variables: new Map(variables) }
  return { ...place, depth: place.depth + 1, facts, isCertain: true }
}

// ── Facts ──

/** Bash itself sets these at other times. */
const managed =
  /^(_|PWD|OLDPWD|REPLY|MAPFILE|OPT\w+|S?RANDOM|SECONDS|LINENO|PPID|BASH\w*|PIPESTATUS|DIRSTACK|EPOCH\w+|E?UID|SHLVL)$/

/** `value` undefined: any text. */
export function assign({ facts, isCertain }: Place, name: string, value?: string): void {
  const { variables } = facts
  if (variables.size >= variablesMax) throw tooLong()
  const isSame = value === (variables.get(name) ?? value) && !managed.test(name)
  variables.set(name, isCertain && isSame && value !== undefined ? value : anything)
}

export function forgetVariables({ facts }: Place): void {
  for (const name of facts.variables.keys()) facts.variables.set(name, anything)
}

/** The folders of both. */
export function together(one: Facts['folders'], other: Facts['folders']): Facts['folders'] {
  const all = one && other && [...new Set([...one, ...other])]
  return all && all.length <= foldersMax ? all : undefined
}

// ── Checks ──

/** All possible paths of a file. Undefined: not known. */
function pathsOf(field: string, { facts }: Place): (string | undefined)[] {
  const starts = field.startsWith('/') ? ['/'] : (facts.folders ?? [undefined])
  return starts.map((folder) => resolved(field, folder))
}

/** The folders that it may be. */
export function foldersOf(field: string, place: Place): Facts['folders'] {
  const paths = pathsOf(field, place)
  return paths.every((path) => path !== undefined) ? paths : undefined
}

function fetched(name: string, what: string): Denial {
  const advice = 'Fetch it in a call of its own and read it. Then run it in another call.'
  const run = `${shown(name)} would run ${what} this command may have fetched`
  return new Denial('net-into-shell', run, advice)
}

/** A script in a file is not visible. Refuses one that is not named, or comes from the net. */
export function checkFile(file: string, name: string, place: Place): void {
  const { net, unnamed, named } = place.whole
  if (net && (unnamed || named.has(nameOf(file)))) throw fetched(name, `"${shown(file)}", which`)
  const isDevice = pathsOf(file, place).some((path) => /^\/+(dev|proc)(\/|$)/.test(path ?? file))
  if (isUnknown(file) || file === '-' || isDevice) throw hidden(name, file)
  checkNotWeir(file)
}

/** A file by which a program that runs in its folder runs code. */
export const rulesFile =
  /(^|[/:=])((GNUm|m|M)akefile|CMakeLists\.txt|Rakefile|conftest\.py|setup\.(py|cfg)|(pyproject|Cargo)\.toml|build\.(rs|gradle(\.kts)?)|pom\.xml|package\.json|\.npmrc|Gemfile|[\w.-]+rc\.[cm]?js|build\.ninja|settings\.gradle(\.kts)?|[\w.-]+\.config\.[cm]?[jt]s)$/

/** Refuses a program of a folder whose rules, such as a Makefile, this command may have fetched. */
export function refuseFetchedRules(name: string, { whole }: Place): void {
  if (whole.hasFetchedRules) throw fetched(name, 'code from a file that')
}

/** A program or script that runs is a file of the project: below an allowed folder. */
export function checkProjectFile(file: string, name: string, place: Place): void {
  checkFile(file, name, place)
  const { allowedFolders } = place.rules
  for (const path of pathsOf(file, place))
    if (
      path === undefined ||
      /:\/\/|^[{[]/.test(file) ||
      !allowedFolders.some((folder) => isInside(path, folder))
    )
      throw unlisted(name, file)
}

const withoutSecrets = 'Do without it: commands may neither read nor change secrets.'

export function checkSecret(field: string, place: Place): void {
  step(place, field.length)
  const secret = secretIn(field, place.facts.folders)
  if (secret === undefined) return
  throw new Denial(
    'secret',
    `"${shown(field)}" names a secret (${shown(secret)})`,
    `${withoutSecrets} If it is none, use a file of another name.`,
  )
}

const devices = /^\/dev\/(null|stdout|stderr|stdin|tty|full|fd\/\d+)$/

/** `what`: the writer. `removes`: the allowed folder itself is forbidden too. */
export function checkWrite(field: string, what: string, place: Place, removes = false): void {
  const { allowedFolders } = place.rules
  const allowed = allowedFolders.map((folder) => shown(folder)).join(' or ')
  for (const path of pathsOf(field, place)) {
    if (path === undefined)
      throw new Denial(
        'unknowable',
        `${what} would change "${shown(field)}", and ${isUnknown(field) ? 'a part of it is only known when the command runs' : 'the folder that it begins in is not known there'}`,
        `Write the path out: absolute and below ${allowed}.`,
      )
    if (devices.test(path)) continue
    if (allowedFolders.some((one) => isInside(path, one) && (path !== one || !removes))) continue
    const leads = path === field ? '' : ` (${shown(path)})`
    const several = !field.startsWith('/') && (place.facts.folders?.length ?? 1) > 1
    throw new Denial(
      'write-outside',
      `${what} would change "${shown(field)}"${leads}, which is not below ${allowed}`,
      `Change only what is below ${allowed}.${several ? ' A cd may fail: join it to what follows with &&.' : ''}`,
    )
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}
