// The shell's builtin commands that change the folder or the variables, or that run a script. Other
// builtins change nothing here.

import { assigned, both, inFolders, type Outcome, same } from './environment.ts'
import { anything, isUnknown } from './field.ts'
import { resolved } from './paths.ts'
import { checkWrite, type Place } from './place.ts'
import { checkValue, checkWords } from './read-again.ts'
import { Refusal } from './refusal.ts'
import { judgeShell, runHere } from './shells.ts'

type Judge = (fields: readonly string[], place: Place) => Outcome

const harmless = new Set([
  ...[
    ':',
    'true',
    'false',
    'echo',
    'printf',
    'test',
    '[',
    'pwd',
    'type',
    'hash',
    'jobs',
    'fg',
    'bg',
    'wait',
    'kill',
    'disown',
    'times',
    'umask',
    'ulimit',
  ],
  ...[
    'help',
    'suspend',
    'logout',
    'caller',
    'complete',
    'compopt',
    'dirs',
    'shift',
    'set',
    'shopt',
    'bind',
    'unalias',
  ],
])

/** Undefined: not a builtin known here. `judge`: judges the command that a builtin runs. */
export function builtin(
  name: string,
  args: readonly string[],
  place: Place,
  judge: Judge,
): Outcome | undefined {
  const { environment } = place
  checkWords(name, args)
  switch (name) {
    case 'cd':
    case 'chdir':
    case 'pushd':
      return changeFolder(name, args, place)
    case 'popd':
      return { ok: inFolders(environment, undefined), failed: environment }
    case 'eval':
      return args.length === 0 ? both(environment) : runHere(args.join(' '), name, place)
    case 'trap':
      return trap(args, place)
    case 'source':
    case '.':
      // A sourced script's effect is as invisible as that of any run script. Only its origin is
      // checked.
      judgeShell(
        name,
        args.slice(0, 1).map((file) => (file.startsWith('-') ? `./${file}` : file)),
        { ...place, input: { kind: 'pipe' } },
      )
      return both(environment)
    case 'exit':
    case 'logout':
      return both(undefined)
    case 'return':
    case 'break':
    case 'continue':
      place.leaps.push(environment)
      return both(undefined)
    case 'readarray':
    case 'mapfile':
    case 'compgen':
      if (args.some((arg) => /^-[a-zA-Z]*[CF]/.test(arg)))
        throw new Refusal(
          'unseen-script',
          `${name} runs what stands behind -C or -F`,
          'Read the lines in a while loop and write the commands in it.',
        )
      return both(withUnknownVariables(args, place))
    case 'history':
      checkHistory(args, place)
      return both(environment)
    case 'fc':
      if (!args.some((arg) => /^-[a-z]*l/.test(arg)))
        throw new Refusal(
          'unseen-script',
          'fc runs commands of the history again',
          'Write the commands out.',
        )
      return both(environment)
    case 'let':
      return both(
        withUnknownVariables(
          args.flatMap((arg) => arg.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []),
          place,
        ),
      )
    case 'read':
    case 'getopts':
    case 'unset':
      return both(withUnknownVariables(args, place))
    case 'declare':
    case 'typeset':
    case 'local':
    case 'export':
    case 'readonly':
    case 'nameref':
      return both(declared(name, args, place))
    case 'alias':
      if (args.some((arg) => arg !== '-p'))
        throw new Refusal(
          'unknowable',
          'an alias changes what later commands mean',
          'Write the commands out without an alias.',
        )
      return both(environment)
    case 'hash':
      if (args.some((arg) => arg.startsWith('-') && arg.includes('p')))
        throw new Refusal(
          'unknowable',
          'hash -p changes what a command means',
          'Call the program by its path.',
        )
      return both(environment)
    case 'enable':
      if (args.some((arg) => arg.startsWith('-') && arg.includes('f')))
        throw new Refusal('unknowable', 'enable -f loads code into the shell', 'Do without it.')
      return both(environment)
    case 'printf':
      return both(args[0]?.startsWith('-v') ? withUnknownVariables(args, place) : environment)
    case 'wait':
      return both(withUnknownVariables(args, place))
    case 'coproc':
      return judge(args, place)
    default:
      return harmless.has(name) ? both(environment) : undefined
  }
}

function changeFolder(name: string, args: readonly string[], place: Place): Outcome {
  const { environment, home } = place
  const operands = args.filter((arg) => !/^-[LPe@n]+$/.test(arg) && arg !== '--')
  if (operands.length > 1) return both(inFolders(environment, undefined))
  const target =
    operands[0] ?? (name === 'pushd' ? '-' : (environment.variables.get('HOME') ?? home))
  // Relative names are searched in CDPATH.
  const isSearched =
    (environment.variables.get('CDPATH') ?? '') !== '' &&
    target !== undefined &&
    !/^\.{0,2}\//.test(target)
  if (
    target === undefined ||
    target === '-' ||
    /^[-+]\d+$/.test(target) ||
    isUnknown(target) ||
    isSearched
  )
    return { ok: inFolders(environment, undefined), failed: environment }
  const starts = target.startsWith('/') ? ['/'] : environment.cwds
  const folders = starts?.map((cwd) => resolved(target, cwd))
  const known =
    folders === undefined || folders.includes(undefined)
      ? undefined
      : [...new Set(folders as string[])]
  return { ok: inFolders(environment, known), failed: environment }
}

/** Writes to the named file, or to the shell's history file. */
function checkHistory(args: readonly string[], place: Place): void {
  if (!args.some((arg) => /^-[a-z]*[aw]/.test(arg))) return
  const file = args.find((arg) => !arg.startsWith('-'))
  checkWrite(
    file ??
      place.environment.variables.get('HISTFILE') ??
      `${place.home ?? anything}/.bash_history`,
    'history',
    place,
  )
}

/**
 * Its commands run at any later time. They are judged as if they ran now and from any folder, and
 * must not change the shell.
 */
function trap(args: readonly string[], place: Place): Outcome {
  const operands = args.filter((arg) => !/^-[lpP]$/.test(arg) && arg !== '--')
  const [script, ...signals] = operands
  if (signals.length === 0 || script === undefined || script === '-' || script === '')
    return both(place.environment)
  const leaps: Place['leaps'] = []
  const outcome = runHere(script, 'trap', { ...place, leaps })
  runHere(script, 'trap', {
    ...place,
    leaps: [],
    environment: inFolders(place.environment, undefined),
  })
  const isLast = signals.every((signal) => /^(EXIT|0)$/i.test(signal))
  const changes = [outcome.ok, outcome.failed, ...leaps].some(
    (environment) => environment !== undefined && !same(environment, place.environment),
  )
  if (changes && !isLast)
    throw new Refusal(
      'unknowable',
      'a trap changes the folder or the variables at times that are not known',
      'Let the trap leave them as they are.',
    )
  return both(place.environment)
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The variables after a command that sets some of them to unknown values. */
function withUnknownVariables(
  args: readonly string[],
  { environment }: Place,
): Place['environment'] {
  let next = environment
  for (const arg of args) {
    const name = arg.replace(/^-v/, '').replace(/\[.*/, '')
    if (isUnknown(arg)) return { ...next, variables: unknownVariables(next) }
    if (variableName.test(name)) next = assigned(next, name, undefined)
  }
  return next
}

/** script.ts handles assignments that the parser recognizes. Quoted ones arrive as words. */
function declared(
  name: string,
  args: readonly string[],
  { environment }: Place,
): Place['environment'] {
  const isReference = name === 'nameref' || args.some((arg) => /^[-+][a-zA-Z]*n/.test(arg))
  if (isReference && name !== 'export')
    throw new Refusal(
      'unknowable',
      'a name for another variable changes what later words mean',
      'Use the variable itself.',
    )
  for (const arg of args) {
    const at = arg.indexOf('=')
    if (at > 0) checkValue(arg.slice(0, at).replace(/\+$/, ''), arg.slice(at + 1))
  }
  // Upper case, lower case or integer: the variable's value will differ from the assigned text.
  const changes = args.some((arg) => /^-[a-zA-Z]*[ulci]/.test(arg))
  if (changes || args.some(isUnknown))
    return { ...environment, variables: unknownVariables(environment) }
  let next = environment
  for (const arg of args) {
    const variable = /^([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)/.exec(arg)
    if (variable === null) continue
    next = assigned(
      next,
      variable[1] as string,
      variable[2] === '=' ? arg.slice(arg.indexOf('=') + 1) : undefined,
    )
  }
  return next
}

function unknownVariables({ variables }: Place['environment']): Place['environment']['variables'] {
  return new Map([...variables.keys(), 'HOME'].map((name) => [name, anything]))
}
