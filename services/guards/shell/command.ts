// Judges one command with its words, and keeps its changes of the folder and the variables.
// Owns: the kind of command and the checks for each kind, and the shell's builtin commands.
// Does not own: the script around it (script.ts), the outputs of a command (changes.ts), the command
// inside another one (runs.ts).

import { checkChanges } from './changes.ts'
import { Denial, notPlain, shown } from './denial.ts'
import { anything, isPlain, isUnknown, list, nameOf, resolved } from './field.ts'
import { isInterpreter } from './inline.ts'
import {
  assign,
  checkFile,
  checkSecrets,
  forgetVariables,
  type Place,
  step,
  together,
} from './place.ts'
import {
  checkNotServer,
  checkOptions,
  checkPackage,
  checkProgram,
  checkReadTwice,
  checkSetting,
  checkSignals,
  fetchesUnnamed,
  isNet,
  isShell,
  scriptsOf,
} from './programs.ts'
import {
  isWrapper,
  judgeFind,
  judgeInner,
  judgeInterpreter,
  judgeShell,
  judgeWrapped,
  runScript,
} from './runs.ts'

/** They only print their words: a word is no secret's name unless another command reads it. */
const printers = ['echo', 'printf', ':', 'true', 'false']

/** `fields`: the command's name and its arguments. Throws a Denial. */
export function judgeCommand(fields: readonly string[], place: Place): void {
  step(place)
  const [name, ...args] = fields
  if (name === undefined) return
  if (!isPlain(name))
    throw new Denial(
      'unknowable',
      `the name of a command, "${shown(name)}", is only known when it runs`,
      'Write the name of the command out.',
    )
  const base = nameOf(name)
  if (name.includes('/')) checkFile(name, 'it', place)
  if (place.isRead || !printers.includes(base)) checkSecrets(fields, place)
  checkSignals(base, args)
  if (builtin(name, args, place)) return
  checkProgram(name === '.' ? 'source' : base, place.rules.onlyCommands)
  if (isWrapper(base)) return judgeWrapped(base, args, place, judgeCommand)
  checkOptions(base, args)
  checkPackage(base, args)
  checkNotServer(args)
  if (isShell(base)) judgeShell(base, args, place)
  else if (/^g?find$/.test(base)) judgeFind(args, place, judgeCommand)
  else if (isInterpreter(base)) judgeInterpreter(base, args, place, judgeCommand)
  else judgeInner(base, args, place, judgeCommand)
  checkChanges(base, args, place)
  for (const file of scriptsOf(base, args)) checkFile(file, base, place)
  const isUnnamed = fetchesUnnamed(base, args)
  place.whole.unnamed ||= isUnnamed
  place.whole.net ||= isNet(base) || isUnnamed
  for (const arg of args)
    for (const word of arg.split(/[=#\uE000\uE001]/)) place.whole.named.add(nameOf(word))
}

// ── Builtin commands ──

const harmless = list(`: true false echo printf test [ pwd type jobs fg bg wait disown times umask
  ulimit help caller dirs shift set shopt kill exit logout return break continue trap`)
const hiding = list(`eval alias unalias enable bind complete compopt compgen builtin coproc history
  fc hash`)
/** Their words name variables, which may have subscripts. */
const setters = list(
  'read readarray mapfile getopts unset let declare typeset local export readonly',
)

/** By name: arguments with which a builtin runs code or changes the meaning of later commands. */
const refusedArguments: [names: RegExp, refused: RegExp][] = [
  [/^(mapfile|readarray)$/, /^-[a-zA-Z]*C/],
  [/^set$/, /^-[a-z]*k/],
  [/^shopt$/, /^(lastpipe|expand_aliases|extdebug|sourcepath)$|\uE000/],
  [/^(declare|typeset|local)$/, /^[-+][a-zA-Z]*[nuclif]/],
  [/^(export|readonly)$/, /^-[a-zA-Z]*f/],
]

/** False: not a builtin that is known here. */
function builtin(name: string, args: readonly string[], place: Place): boolean {
  if (hiding.includes(name))
    throw notPlain(`${name} hides the command that runs`, `Write it out, without ${name}.`)
  for (const [names, refused] of refusedArguments) {
    const odd = names.test(name) && args.find((arg) => refused.test(arg))
    if (odd)
      throw notPlain(`${name} ${odd} changes how later commands run`, `Use ${name} without it.`)
  }
  const isSetter = setters.includes(name) || (name === 'printf' && args[0]?.startsWith('-v'))
  if (isSetter || /^(test|\[|wait)$/.test(name)) for (const arg of args) checkReadTwice(arg, name)
  if (isSetter) forgetSet(name, args, place)
  if (name === 'trap' && args.length > 1) checkTrap(args, place)
  if (/^(source|\.)$/.test(name)) checkFile(args[0] ?? '-', name, place)
  const isMove = /^(cd|pushd|popd)$/.test(name)
  if (isMove) changeFolder(name, args, place)
  return isMove || isSetter || harmless.includes(name)
}

/** It may fail, so the folder before stays possible. */
function changeFolder(name: string, args: readonly string[], { facts, whole }: Place): void {
  const operands = args.filter((arg) => !/^-[LPe]+$/.test(arg) && arg !== '--')
  const target = operands[0] ?? facts.variables.get('HOME') ?? anything
  const isKnown = operands.length <= 1 && name === 'cd' && target !== '-'
  const starts = target.startsWith('/') ? ['/'] : facts.folders
  const found = isKnown ? starts?.map((folder) => resolved(target, folder)) : undefined
  const folders = found?.filter((folder) => folder !== undefined)
  whole.moved = folders?.length === found?.length ? folders : undefined
  facts.folders = together(facts.folders, whole.moved)
}

/** Its command runs at any later time: from any folder, and with any variables. */
function checkTrap([script = '', ...signals]: readonly string[], place: Place): void {
  if (!/^(-|(rm|kill|echo)\b[^;&|\n]*)?$/.test(script) || signals.includes('DEBUG'))
    throw notPlain(
      'a trap is more than one rm, kill or echo',
      'Run the commands where they belong.',
    )
  const facts = { ...place.facts, folders: undefined }
  if (script !== '-') runScript(script, 'trap', { ...place, facts })
}

/** The variables that it sets have unknown values from here on. */
function forgetSet(name: string, args: readonly string[], place: Place): void {
  // The parser recognizes plain declarations, and script.ts assigns them. Quoted ones are words.
  const isDeclarer = /^(declare|typeset|local|export|readonly)$/.test(name)
  for (const word of isDeclarer ? args.filter((arg) => /=|^\uE000/.test(arg)) : args) {
    const [, key, text = ''] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(word) ?? []
    if (key !== undefined) checkSetting(key, text)
    if (isUnknown(word)) forgetVariables(place)
    for (const one of word.replace(/^-v/, '').match(/[A-Za-z_]\w*/g) ?? []) assign(place, one)
  }
}
