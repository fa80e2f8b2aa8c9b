// Judges one command with its words. It runs nothing, and returns how the script can continue.
// Owns: the kind of command and the checks for each kind.
// Does not own: the script around it (script.ts), the outputs of a command (changes.ts), the command
// inside another one (runs.ts).
//
// SHELL-COMMAND-1. An argument of an unknown program that names a command with effects is judged
//     as a command: the program may run it.

import { builtin } from './builtins.ts'
import { checkChanges, hasChanges } from './changes.ts'
import { optionValues } from './command-line.ts'
import { isPlain, list, nameOf } from './field.ts'
import { checkStream, isInterpreter } from './inline.ts'
import { both, checkSecrets, type Outcome, type Place, step, wasFetched } from './place.ts'
import {
  checkNotWeir,
  checkOptions,
  checkProgram,
  isPlainProgram,
  isRefused,
  isShell,
  scriptsOf,
} from './programs.ts'
import { Refusal, shown } from './refusal.ts'
import {
  checkFile,
  isWrapper,
  judgeFind,
  judgeInterpreter,
  judgeShell,
  judgeWrapped,
  runScript,
} from './runs.ts'
import { checkSignals, noteParent } from './signals.ts'

/** They only print their words: a word is no secret's name unless another command reads it. */
const printers = ['echo', 'printf', ':', 'true', 'false']

/** They run a command that their words name, and their own subcommands are no commands. */
const packageManagers = list('npm pnpm yarn bun pipx gem cargo')
const ownSubcommands = list('exec install link unlink rm patch init view env watch script build')

/** `fields`: the command's name and its arguments. Throws a Refusal. */
export function judgeCommand(fields: readonly string[], place: Place): Outcome {
  step(place)
  const [name, ...args] = fields
  if (name === undefined) return both(place.state)
  if (!isPlain(name))
    throw new Refusal(
      'unknowable',
      `the name of a command, "${shown(name)}", is only known when it runs`,
      'Write the name of the command out.',
    )
  const base = nameOf(name)
  if (name.includes('/') && wasFetched(name, place))
    throw new Refusal(
      'net-into-shell',
      `it runs "${shown(name)}", which it has just fetched from the net`,
      'Fetch it, read it, and run the commands of it that you need.',
    )
  if (place.isRead || !printers.includes(base)) checkSecrets(fields, place)
  noteParent(fields, place)
  checkSignals(base, args, place)
  const outcome = isWrapper(base) ? undefined : builtin(name, args, place)
  if (outcome !== undefined) return outcome
  checkProgram(name === '.' ? 'source' : base, place.rules.onlyCommands)
  if (isWrapper(base)) return judgeWrapped(base, args, place, judgeCommand)
  if (isShell(base)) judgeShell(base, args, place)
  else if (base === 'find' || base === 'gfind') judgeFind(args, place, judgeCommand)
  else judgeProgram(base, args, place)
  return both(place.state)
}

function judgeProgram(base: string, args: readonly string[], place: Place): void {
  checkOptions(base, args)
  if (/^(g?sed|[gmn]?awk)$/.test(base)) checkStream(base, args)
  else if (isInterpreter(base)) judgeInterpreter(base, args, place)
  checkChanges(base, args, place)
  for (const file of scriptsOf(base, args)) checkFile(file, base, place)
  if (packageManagers.includes(base)) judgePackaged(args, place)
  else if (!isPlainProgram(base) && !hasChanges(base) && !isInterpreter(base))
    judgeInner(args, place)
}

/** `npm exec COMMAND`, `pnpm dlx COMMAND`, `pnpm COMMAND`, `npm run SCRIPT`. */
function judgePackaged(args: readonly string[], place: Place): void {
  const first = args.findIndex((arg) => !arg.startsWith('-'))
  const own = args[first] ?? ''
  if (/^(ls|list|view|info|i|install|add|why|outdated)$/.test(own) && first === 0) return
  for (const one of [...args, ...optionValues(args, '-p --package')]) checkNotWeir(one)
  if (args.some((arg) => /^(exe?c?|x)$/.test(arg)))
    for (const script of optionValues(args, '-c --call')) runScript(script, 'it', place)
  if (!/^ru/.test(own))
    judgeInner(ownSubcommands.includes(own) ? args.slice(first + 1) : args, place)
}

/** Keeps SHELL-COMMAND-1. */
function judgeInner(args: readonly string[], place: Place): void {
  for (const [i, arg] of args.entries()) {
    if (hasEffect(arg)) judgeCommand(args.slice(i), place)
    // A whole command in one argument, also behind an option's name.
    const [, script = ''] = /^(?:-[\w-]+=)?(\S+\s.*)$/s.exec(arg) ?? []
    if (hasEffect(list(script)[0] ?? '')) runScript(script, 'it', place)
  }
}

function hasEffect(name: string): boolean {
  const base = nameOf(name)
  if (base === '' || !isPlain(base)) return false
  return (
    isRefused(base) || isWrapper(base) || isShell(base) || isInterpreter(base) || hasChanges(base)
  )
}
