// Judges one command with its words. It runs nothing, and returns how the script can continue.
// Owns: the kind of command and the checks for each kind.
// Does not own: the script around it (script.ts), the outputs of a command (rows.ts), the command
// inside another one (runs.ts).
//
// SHELL-COMMAND-1. An argument of an unknown program that names a command with effects is judged
//     as a command: the program may run it.

import { builtin } from './builtins.ts'
import { commandLine, valuesOf } from './command-line.ts'
import { isPlain, isUnknown, list } from './field.ts'
import { checkStream, isInterpreter } from './inline.ts'
import { nameOf } from './paths.ts'
import { checkSecrets, checkWrite, type Place, rememberFetched, step, wasFetched } from './place.ts'
import {
  checkNotWeir,
  checkOptions,
  checkProgram,
  isNet,
  isPlainProgram,
  isRefused,
  isShell,
  scriptsOf,
} from './programs.ts'
import { Refusal, shown } from './refusal.ts'
import { changesOf, hasRow } from './rows.ts'
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
import { both, type Outcome } from './state.ts'

/** They only print their words: a word is no secret's name unless another command reads it. */
const printers = ['echo', 'printf', ':', 'true', 'false']

/** They run the command behind `exec`, and some of them one without it. */
const packageManagers = ['npm', 'pnpm', 'yarn', 'bun', 'pipx', 'gem', 'cargo']
/** Subcommands of them that are also names of commands. */
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
  if (!isWrapper(base)) {
    const outcome = builtin(name, args, place)
    if (outcome !== undefined) return outcome
  }
  checkProgram(name === '.' ? 'source' : base, place.rules.onlyCommands)
  if (isWrapper(base)) return judgeWrapped(base, args, place, judgeCommand)
  if (isShell(base)) return judgeShell(base, args, place)
  if (base === 'find' || base === 'gfind') return judgeFind(args, place, judgeCommand)
  checkOptions(base, args)
  if (/^(g?sed|[gmn]?awk)$/.test(base)) checkStream(base, args)
  else if (isInterpreter(base)) judgeInterpreter(base, args, place)
  checkChanges(base, args, place)
  for (const file of scriptsOf(base, args)) checkFile(file, base, place)
  if (packageManagers.includes(base)) judgePackaged(args, place)
  else if (!isPlainProgram(base) && !hasRow(base) && !isInterpreter(base)) judgeInner(args, place)
  return both(place.state)
}

/** `npm exec COMMAND`, `pnpm dlx COMMAND`, `pnpm COMMAND`, `npm run SCRIPT`. */
function judgePackaged(args: readonly string[], place: Place): void {
  const starts = args.findIndex((arg) => /^(exe?c?|x|dlx)$/.test(arg))
  if (starts >= 0) {
    const inner = args.slice(starts + 1)
    const line = commandLine(inner, '-c --call -p --package', true)
    for (const one of valuesOf(line, '-p --package')) checkNotWeir(one)
    for (const script of valuesOf(line, '-c --call')) runScript(script, 'it', place)
    judgeInner(inner, place)
  }
  const { operands } = commandLine(args, '-C --dir -F --filter --prefix --cwd --workspace', true)
  const [name = '', ...rest] = operands
  if (/^ru/.test(name)) for (const arg of rest) checkNotWeir(arg)
  else if (hasEffect(name) && !ownSubcommands.includes(name)) judgeCommand(operands, place)
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
  return isRefused(base) || isWrapper(base) || isShell(base) || isInterpreter(base) || hasRow(base)
}

function checkChanges(base: string, args: readonly string[], place: Place): void {
  const changes = changesOf(base, args)
  if (changes === undefined) return
  if (changes.unknowable !== undefined)
    throw new Refusal(
      'unknowable',
      `the changes of ${shown(base)} cannot be seen: ${changes.unknowable}`,
      'Write it without that option.',
    )
  if (changes.uncertain !== undefined && isUnknown(changes.uncertain))
    throw new Refusal(
      'unknowable',
      `"${shown(changes.uncertain)}" is only known when the command runs, and ${shown(base)} could take it for an option`,
      'Write it out. Where it is a file that is only read, -- before the file names helps.',
    )
  const { writes = [], removes = [], links = [], copied = [], fetched = [] } = changes
  for (const path of writes) checkWrite(path, base, place)
  for (const path of removes) checkWrite(path, base, place, true)
  // A relative target of a link starts at the link's place, which may be a folder or a name.
  for (const link of links)
    for (const path of link.startsWith('/')
      ? ['']
      : ['', ...writes.flatMap((to) => [`${to}/`, `${to}/../`])])
      checkWrite(path + link, `a write through the link that ${base} makes`, place)
  const isFetched = place.input.kind === 'net' || isNet(base)
  if (isFetched) for (const path of base === 'tee' ? writes : fetched) rememberFetched(path, place)
  if (copied.some((path) => wasFetched(path, place)))
    for (const target of writes)
      for (const path of ['', ...copied.map((source) => `/${nameOf(source)}`)])
        rememberFetched(target + path, place)
}
