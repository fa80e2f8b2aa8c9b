// The shell's builtin commands: those that change the folder or the variables, and those that are
// refused, because they change the meaning of later commands.

import { anything, isUnknown, list } from './field.ts'
import { resolved } from './paths.ts'
import { checkWrite, type Place } from './place.ts'
import { notPlain } from './refusal.ts'
import { checkFile, runScript } from './runs.ts'
import { checkReadTwice, checkSetting, runsCommand } from './settings.ts'
import { assigned, both, type Outcome, type State } from './state.ts'

const harmless = list(`: true false echo printf test [ pwd type jobs fg bg wait disown times umask
  ulimit help caller dirs shift set shopt unset read let getopts mapfile readarray compgen declare
  typeset local export readonly history fc hash kill`)
/** Their words name variables, which may have subscripts. */
const readers = list(`test [ printf declare typeset local export readonly read readarray mapfile
  getopts unset wait let`)
const setters = list('read readarray mapfile getopts unset let')
const declarers = list('declare typeset local export readonly')

const refused: Record<string, string> = {
  eval: 'Write the command out, without eval.',
  alias: 'Write the commands out, without an alias.',
  enable: 'Leave enable out.',
  bind: 'Leave bind out.',
  complete: 'Leave complete out.',
  coproc: 'Run the command in the background with & instead.',
  nameref: 'Use the variable itself.',
}

/** By name: arguments with which a builtin runs code or changes the meaning of later commands. */
const refusedArguments: Record<string, RegExp> = {
  mapfile: /^-[a-zA-Z]*C/,
  readarray: /^-[a-zA-Z]*C/,
  compgen: /^-[a-zA-Z]*[CFW]/,
  fc: /^-[a-zA-Z]*[se]|^[^-]/,
  hash: /^-[a-z]*p/,
  set: /^-[a-z]*k/,
  shopt: /^(lastpipe|expand_aliases|extdebug|sourcepath)$/,
  declare: /^[-+][a-zA-Z]*[nuclif]/,
  typeset: /^[-+][a-zA-Z]*[nuclif]/,
  local: /^[-+][a-zA-Z]*[nuclif]/,
  export: /^-[a-zA-Z]*f/,
  readonly: /^-[a-zA-Z]*f/,
  break: /^/,
  continue: /^/,
}

/** Undefined: not a builtin known here. */
export function builtin(name: string, args: readonly string[], place: Place): Outcome | undefined {
  const { state } = place
  const advice = refused[name]
  if (advice !== undefined) throw notPlain(`${name} hides the command that runs`, advice)
  const odd = args.find(
    (arg) => refusedArguments[name]?.test(arg) || (isUnknown(arg) && name === 'shopt'),
  )
  if (odd !== undefined)
    throw notPlain(`${name} ${odd} changes how later commands run`, `Use ${name} without it.`)
  if (readers.includes(name)) for (const arg of args) checkReadTwice(arg, name)
  if (name === 'let') for (const arg of args) checkReadTwice(arg, name, runsCommand)
  switch (name) {
    case 'cd':
    case 'pushd':
      return changeFolder(name, args, state)
    case 'popd':
      return { ok: { ...state, folders: undefined }, failed: state }
    case 'trap':
      return trap(args, place)
    case 'source':
    case '.':
      if (args[0] !== undefined) checkFile(args[0], name, place)
      return undefined
    case 'exit':
    case 'logout':
    case 'return':
      return both(undefined)
    case 'break':
    case 'continue':
      place.leaps.push(state)
      return both(undefined)
    case 'history': {
      const file = args.find((arg) => !arg.startsWith('-')) ?? state.variables.get('HISTFILE')
      const home = state.variables.get('HOME') ?? anything
      if (args.some((arg) => /^-[a-z]*[aw]/.test(arg)))
        checkWrite(file ?? `${home}/.bash_history`, name, place)
      return both(state)
    }
  }
  if (declarers.includes(name)) return both(declared(args, place))
  if (setters.includes(name) || (name === 'printf' && args[0]?.startsWith('-v')))
    return both(unknownAfter(args, state))
  return harmless.includes(name) ? both(state) : undefined
}

function changeFolder(name: string, args: readonly string[], state: State): Outcome {
  const operands = args.filter((arg) => !/^-[LPe@n]+$/.test(arg) && arg !== '--')
  const target = operands[0] ?? (name === 'pushd' ? '-' : (state.variables.get('HOME') ?? anything))
  const isKnown = operands.length <= 1 && !/^(-|[-+]\d+)$/.test(target)
  const starts = target.startsWith('/') ? ['/'] : state.folders
  const found = isKnown ? starts?.map((folder) => resolved(target, folder)) : undefined
  const folders = found?.includes(undefined) ? undefined : (found as string[] | undefined)
  return { ok: { ...state, folders: folders && [...new Set(folders)] }, failed: state }
}

/** Its commands run at any later time: from any folder, and with any variables. */
function trap(args: readonly string[], place: Place): Outcome {
  const [script, ...signals] = args.filter((arg) => !/^-[lpP]$/.test(arg) && arg !== '--')
  if (signals.length === 0 || script === undefined || script === '-') return both(place.state)
  if (/\b(cd|pushd|popd|read|export|declare|unset)\b|(^|[;&\s])\w+=/.test(script))
    throw notPlain('a trap changes the folder or the variables', 'Let the trap only run commands.')
  runScript(script, 'trap', { ...place, state: { ...place.state, folders: undefined } })
  return both(place.state)
}

/** The variables after a command that sets some of them to unknown values. */
function unknownAfter(args: readonly string[], state: State): State {
  if (args.some(isUnknown))
    return [...state.variables.keys()].reduce(
      (next, name) => assigned(next, name, undefined),
      state,
    )
  const names = args.flatMap((arg) => arg.replace(/^-v/, '').match(/[A-Za-z_]\w*/g) ?? [])
  return names.reduce((next, name) => assigned(next, name, undefined), state)
}

/** script.ts handles assignments that the parser recognizes. Quoted ones arrive as words. */
function declared(args: readonly string[], place: Place): State {
  if (args.some((arg) => arg[0] === anything)) return unknownAfter(args, place.state)
  return args.reduce((state, arg) => {
    const [, name, text] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(arg) ?? []
    if (name === undefined || text === undefined) return state
    checkSetting(name, text, place)
    return assigned(state, name, arg.includes('+=') ? undefined : text)
  }, place.state)
}
