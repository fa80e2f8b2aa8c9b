// Judges one command with its words, and keeps its changes of the folder and the variables.
// Owns: the kind of command and the checks for each kind, and the shell's builtin commands.
// Does not own: the script around it (script.ts), the outputs of a command (changes.ts), the command
// inside another one (runs.ts).

import { Denial, notPlain, shown } from './denial.ts'
import { anything, isPlain, isUnknown, list, nameOf } from './field.ts'
import { checkNotWeir, checkSignals } from './own-control.ts'
import {
  assign,
  checkFile,
  checkProjectFile,
  checkSecret,
  foldersOf,
  forgetVariables,
  type Place,
  step,
  together,
} from './place.ts'
import { judgeProgram, lastKind } from './programs/usage.ts'
import {
  judgeEdits,
  judgeFind,
  judgeInterpreter,
  judgeProjectWords,
  judgeShell,
  refuseFromNet,
  runScript,
} from './runs.ts'
import { checkExported, checkReadTwice, checkSetting } from './variables.ts'

/** They only print their words: a word is no secret's name unless another command reads it. */
const printers = ['echo', 'printf', ':', 'true', 'false']
/** Programs of the machine, which have a row by their name. */
const installed = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/

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
  const isFile = name.includes('/') && !installed.test(name)
  if (name.includes('/')) checkFile(name, 'it', place)
  for (const word of place.isRead || !printers.includes(base) ? fields : [])
    checkSecret(word, place)
  checkSignals(base, args)
  if (builtin(name, args, place)) return
  const called = isFile ? name : base
  checkOnly(name === '.' ? 'source' : called, place.rules.onlyCommands)
  if (/^(source|\.)$/.test(name)) return checkProjectFile(args[0] ?? '-', name, place)
  checkNotWeir(base)
  const kind = lastKind(base)
  if (isFile || place.rules.alsoCommands.has(base)) {
    if (isFile) checkProjectFile(name, 'it', place)
    refuseFromNet(base, place)
    judgeProjectWords(args, base, place)
  } else if (kind === 'shell') judgeShell(base, args, place)
  else if (kind === 'found') judgeFind(args, place)
  else if (kind === 'file' || kind === 'query') judgeInterpreter(base, args, place)
  else if (kind !== 'edited') judgeProgram(base, args, place)
  if (kind === 'edited' || base.startsWith('perl')) judgeEdits(base, args, place)
  for (const arg of args)
    for (const word of arg.split(/[=#\uE000\uE001]/)) place.whole.named.add(nameOf(word))
}

function checkOnly(base: string, only: ReadonlySet<string> | undefined): void {
  if (only === undefined || only.has(base)) return
  throw new Denial(
    'not-allowed',
    `${shown(base)} is not among the commands that may run`,
    `Use only: ${[...only].map(shown).join(', ').slice(0, 1_000)}.`,
  )
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
  [/^set$/, /^-[a-z]*[ak]|^(allexport|keyword)$/],
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
  if (isSetter || /^(test|\[|wait|set)$/.test(name))
    for (const arg of args) checkReadTwice(arg, name)
  if (/^(read|readarray|mapfile)$/.test(name)) checkReadTwice(textOf(place), name)
  if (place.isRead && printers.includes(name)) place.whole.printed += args.join(' ')
  if (isSetter) forgetSet(name, args, place)
  if (name === 'trap' && args.length > 1) checkTrap(args, place)
  const isMove = /^(cd|pushd|popd)$/.test(name)
  if (isMove) changeFolder(name, args, place)
  // With redirections only. script.ts refuses it with a command.
  const isExec = name === 'exec' && args.length === 0
  return isMove || isSetter || isExec || harmless.includes(name)
}

/** The input of a command, as far as the script brings that text. */
function textOf({ input, whole }: Place): string {
  if (input.kind === 'text') return input.text
  return input.kind === 'pipe' ? whole.printed : ''
}

/** It may fail, so the folder before stays possible. */
function changeFolder(name: string, args: readonly string[], place: Place): void {
  const { facts, whole } = place
  const operands = args.filter((arg) => !/^-[LPe]+$/.test(arg) && arg !== '--')
  const target = operands[0] ?? facts.variables.get('HOME') ?? anything
  const isKnown = operands.length <= 1 && name === 'cd' && target !== '-'
  whole.moved = isKnown ? foldersOf(target, place) : undefined
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
  if (name === 'export')
    for (const word of args) checkExported(word, place.facts.variables.get(word) ?? '', place)
  for (const word of isDeclarer ? args.filter((arg) => /=|^\uE000/.test(arg)) : args) {
    const [, key, text = ''] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(word) ?? []
    if (key !== undefined) checkSetting(key, text)
    if (key !== undefined && name === 'export') checkExported(key, text, place)
    if (isUnknown(word)) forgetVariables(place)
    for (const one of word.replace(/^-v/, '').match(/[A-Za-z_]\w*/g) ?? []) {
      if (key === undefined) checkSetting(one, anything)
      assign(place, one)
    }
  }
}
