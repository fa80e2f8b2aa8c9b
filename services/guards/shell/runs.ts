// Commands that run another command or a script given in their arguments or input: wrappers, find,
// shells, interpreters, and programs of the project.
//
// SHELL-RUNS-1. An argument for a program of the project that names a command with effects is
//     judged as a command: the program may run it.

import { optionsOf, type Shape } from './arguments.ts'
import { Denial, hidden, unclear, unlisted } from './denial.ts'
import { anyName, anything, isPlain, list, nameOf } from './field.ts'
import { checkCode, invocation, isInterpreter } from './inline.ts'
import { checkNotWeir } from './own-control.ts'
import { apart, checkProjectFile, checkSecret, checkWrite, type Place } from './place.ts'
import { type Judge, mayChange } from './programs/usage.ts'

// ── Wrappers ──

const none = /$^/
const wrappers: Record<string, Shape> = {
  sudo: { flag: /^-[bEHnSk]+$/, valued: /^-[ug]$/ },
  env: { flag: /^-i$/, valued: /^-u$/ },
  xargs: { flag: /^(-[0rtx]+|-[nPL]\d+|-I\S+|-d.+|--null)$/, valued: /^-[0rtx]*[InPLd]$/ },
  nohup: { flag: none, valued: none },
  nice: { flag: /^-\d+$/, valued: /^-n$/ },
  timeout: {
    flag: /^(-v|--(preserve-status|foreground)|-[ks]\w+|--signal=\w+)$/,
    valued: /^-[ks]$/,
  },
  time: { flag: /^-[pv]$/, valued: none },
  command: { flag: /^-[vV]$/, valued: none },
}

export function isWrapper(name: string): boolean {
  return Object.hasOwn(wrappers, name)
}

export function judgeWrapped(name: string, args: readonly string[], outer: Place, judge: Judge) {
  const { options, rest } = optionsOf(name, args, wrappers[name] as Shape)
  if (name === 'command' && options.length > 0) return
  const place = apart(outer)
  const fields = name === 'timeout' ? rest.slice(1) : rest
  const isOdd = name === 'timeout' && !/^[\d.]+[smhd]?$/.test(rest[0] ?? '')
  if (isOdd || /^-|=/.test(fields[0] ?? '')) throw unclear(name, args.join(' '))
  // Another user or environment has another home. The words are expanded already.
  if (/^(sudo|env)$/.test(name)) place.facts.variables.delete('HOME')
  judge(name === 'xargs' ? withInput(fields, options) : fields, place)
}

/** The words that xargs reads are unknown, but their place is known. */
function withInput(fields: readonly string[], options: readonly [string, string][]): string[] {
  const [option = '', value] = options.findLast(([one]) => /^-[0rtx]*I/.test(one)) ?? []
  const mark = option.replace(/^-[0rtx]*I/, '') || (value ?? '')
  if (option === '') return [...(fields.length === 0 ? ['echo'] : fields), anything]
  if (mark === '' || !isPlain(mark)) throw unclear('xargs', option)
  return fields.map((field) => field.replaceAll(mark, anything))
}

// ── find ──

const test =
  /^(-(H|L|P|not|o|or|a|and|print0?|prune|empty|depth|mount|xdev|daystart|noleaf|readable|writable|executable|true|false|quit|ls|delete)|[(),!])$/
const valuedTest =
  /^-(i?name|i?path|i?wholename|i?regex|regextype|type|xtype|maxdepth|mindepth|[acm](time|min)|newer|size|perm|user|group|links|printf)$/

/** The files that it removes, and the commands that it runs on them. */
export function judgeFind(args: readonly string[], place: Place, judge: Judge): void {
  const paths: string[] = []
  let removes = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    removes ||= arg === '-delete'
    if (valuedTest.test(arg)) at++
    else if (arg === '-exec') at = judgeExec(args, at + 1, paths, place, judge)
    else if (/^[-(),!\uE000]/.test(arg) ? !test.test(arg) : at > paths.length && !isOption(args[0]))
      throw unlisted('find', arg)
    else if (!test.test(arg)) paths.push(arg)
  }
  if (removes)
    for (const path of paths.length === 0 ? ['.'] : paths) checkWrite(path, 'find -delete', place)
}

function isOption(arg = ''): boolean {
  return /^-[HLP]$/.test(arg)
}

/** Judges the command on the files that were found. Returns the place of its end. */
function judgeExec(
  args: readonly string[],
  at: number,
  paths: readonly string[],
  place: Place,
  judge: Judge,
): number {
  const rest = args.slice(at)
  const end = rest.findIndex((one, j) => one === ';' || (one === '+' && rest[j - 1] === '{}'))
  const inner = end < 0 ? rest : rest.slice(0, end)
  for (const path of paths.length === 0 ? ['.'] : paths) {
    const found = `${path.replace(/\/$/, '')}/${anyName}`
    judge(
      inner.map((field) => field.replaceAll('{}', found)),
      apart(place),
    )
  }
  return end < 0 ? args.length : at + end
}

// ── Shells and interpreters ──

export function isShell(name: string): boolean {
  return /^([dz]|ba|m?k|a|rba|ya)?sh$/.test(name)
}

const shell: Shape = {
  flag: /^[-+][aefilnuvxs]+$|^--(login|norc|noprofile|posix|version|help)$/,
  valued: /^[-+][aefilnuvx]*[coO]$/,
  ends: /c$/,
}

/** `bash -c SCRIPT`, `bash FILE`, `… | bash`. */
export function judgeShell(name: string, args: readonly string[], place: Place): void {
  const { options, rest } = optionsOf(name, args, shell)
  const script = options.find(([one]) => /^[-+]\w*c$/.test(one))?.[1]
  const [file] = options.some(([one]) => /^-\w*s/.test(one)) ? [] : rest
  if (script?.startsWith('-')) throw hidden(name, script)
  if (script !== undefined) runScript(script, name, place)
  else if (file !== undefined && file !== '-') checkProjectFile(file, name, place)
  else if (!options.some(([one]) => /^--(version|help)$/.test(one)))
    judgeInput(name, place, (text) =>
      runScript(text, name, { ...place, input: { kind: 'nothing' } }),
    )
}

/** A script in a new shell. It gets only exported variables, and all but HOME count as unknown. */
export function runScript(script: string, name: string, place: Place): void {
  if (!isPlain(script)) throw hidden(name, script)
  const home = place.facts.variables.get('HOME') ?? anything
  place.walk(script, apart(place, new Map([['HOME', home]])))
}

/** Modules of Python that have a row in programs/rows.ts. */
const modules =
  /^(pip|venv|virtualenv|json\.tool|pytest|unittest|mypy|ruff|black|isort|flake8|pylint|tox|nox)$/

/** `python FILE`, `python -c CODE`, `python -m MODULE`, `… | python -`. */
export function judgeInterpreter(
  name: string,
  args: readonly string[],
  place: Place,
  judge: Judge,
): void {
  const { code, file, module, reads } = invocation(name, args)
  for (const one of code) checkCode(name, one, place)
  if (module !== undefined) {
    const [first = ''] = module
    if (!modules.test(first)) throw unlisted(name, `-m ${first}`)
    judge(module, place)
  }
  if (file !== undefined) checkProjectFile(file, name, place)
  if (module === undefined) judgeProjectWords(args, name, place, judge)
  if (reads)
    judgeInput(name, place, (text) => {
      checkSecret(text, place)
      checkCode(name, text, place)
    })
}

const readFirst = 'Save it to a file and read it. Then run the commands of it that you need.'

function fromNet(name: string): Denial {
  return new Denial('net-into-shell', `${name} would run data from the net`, readFirst)
}

/** A program of the project may run its input. */
export function refuseFromNet(name: string, { input, whole }: Place): void {
  if (input.kind === 'pipe' && whole.net) throw fromNet(name)
}

function judgeInput(name: string, place: Place, run: (text: string) => void): void {
  const { input, whole } = place
  if (input.kind === 'pipe' && whole.net) throw fromNet(name)
  if (input.kind === 'pipe')
    throw new Denial('unseen-script', `${name} would run the output of another command`, readFirst)
  if (input.kind === 'file') checkProjectFile(input.path, name, place)
  if (input.kind === 'text') run(input.text)
}

// ── Programs of the project ──

/** Keeps SHELL-RUNS-1. */
export function judgeProjectWords(
  args: readonly string[],
  base: string,
  place: Place,
  judge: Judge,
) {
  for (const [i, arg] of args.entries()) {
    checkNotWeir(arg)
    if (hasEffect(arg)) judge(args.slice(i), place)
    // A whole command in one argument, also behind an option's name.
    const [, script = ''] = /^(?:-[\w-]+=)?(\S+\s.*)$/s.exec(arg) ?? []
    if (hasEffect(list(script)[0] ?? '')) runScript(script, base, place)
  }
}

function hasEffect(name: string): boolean {
  const base = nameOf(name)
  const isStarter = isWrapper(base) || isShell(base) || isInterpreter(base) || base === 'find'
  return isPlain(base) && (isStarter || mayChange(base))
}
