// The shell's builtin commands: those that change the folder or the variables, and those that are
// refused, because they hide a command or change the meaning of later ones.

import { anything, isUnknown, list, resolved } from './field.ts'
import {
  assigned,
  both,
  joined,
  type Outcome,
  type Place,
  type State,
  unknownVariables,
} from './place.ts'
import { notPlain } from './refusal.ts'
import { checkFile, runScript } from './runs.ts'
import { checkReadTwice, checkSetting, runsCommand } from './settings.ts'

const harmless = list(`: true false echo printf test [ pwd type jobs fg bg wait disown times umask
  ulimit help caller dirs shift set shopt kill exit logout return break continue`)
const hiding = list(`eval alias unalias enable bind complete compopt compgen builtin coproc history
  fc hash`)
const setters = list('read readarray mapfile getopts unset let')
const declarers = list('declare typeset local export readonly')
/** Their words name variables, which may have subscripts. */
const readers = [...list('test [ printf wait'), ...setters, ...declarers]

/** By name: arguments with which a builtin runs code or changes the meaning of later commands. */
const refusedArguments: [RegExp, RegExp][] = [
  [/^(mapfile|readarray)$/, /^-[a-zA-Z]*C/],
  [/^set$/, /^-[a-z]*k/],
  [/^shopt$/, /^(lastpipe|expand_aliases|extdebug|sourcepath)$|\uE000/],
  [/^(declare|typeset|local)$/, /^[-+][a-zA-Z]*[nuclif]/],
  [/^(export|readonly)$/, /^-[a-zA-Z]*f/],
]

/** Undefined: not a builtin known here. */
export function builtin(name: string, args: readonly string[], place: Place): Outcome | undefined {
  const { state } = place
  if (hiding.includes(name))
    throw notPlain(`${name} hides the command that runs`, `Write it out, without ${name}.`)
  for (const [names, refused] of refusedArguments) {
    const odd = names.test(name) && args.find((arg) => refused.test(arg))
    if (odd)
      throw notPlain(`${name} ${odd} changes how later commands run`, `Use ${name} without it.`)
  }
  if (readers.includes(name)) for (const arg of args) checkReadTwice(arg, name)
  if (name === 'let') for (const arg of args) checkReadTwice(arg, name, runsCommand)
  if (name === 'cd' || name === 'pushd' || name === 'popd') return changeFolder(name, args, state)
  if (name === 'trap') return trap(args, place)
  if (name === 'source' || name === '.') {
    if (args[0] !== undefined) checkFile(args[0], name, place)
    return undefined
  }
  if (declarers.includes(name)) return both(declared(args, place))
  if (setters.includes(name) || (name === 'printf' && args[0]?.startsWith('-v')))
    return both(unknownAfter(args, state))
  return harmless.includes(name) ? both(state) : undefined
}

function changeFolder(name: string, args: readonly string[], state: State): Outcome {
  const operands = args.filter((arg) => !/^-[LPe@n]+$/.test(arg) && arg !== '--')
  const target = operands[0] ?? (name === 'cd' ? (state.variables.get('HOME') ?? anything) : '-')
  const isKnown = operands.length <= 1 && name !== 'popd' && !/^(-|[-+]\d+)$/.test(target)
  const starts = target.startsWith('/') ? ['/'] : state.folders
  const found = isKnown ? starts?.map((folder) => resolved(target, folder)) : undefined
  const folders = found?.filter((folder) => folder !== undefined)
  const ok = { ...state, folders: folders?.length === found?.length ? folders : undefined }
  return { ok, any: joined(state, ok) }
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
  if (args.some(isUnknown)) return unknownVariables(state)
  const names = args.flatMap((arg) => arg.replace(/^-v/, '').match(/[A-Za-z_]\w*/g) ?? [])
  return names.reduce((next, name) => assigned(next, name, undefined), state)
}

/** script.ts handles assignments that the parser recognizes. Quoted ones arrive as words. */
function declared(args: readonly string[], place: Place): State {
  for (const arg of args) {
    const [, name, text = ''] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(arg) ?? []
    if (name !== undefined) checkSetting(name, text, place)
  }
  return args.some((arg) => /=|^\uE000/.test(arg)) ? unknownAfter(args, place.state) : place.state
}
