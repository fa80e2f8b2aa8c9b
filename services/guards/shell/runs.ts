// Commands that run another command or a script given in their arguments or input: wrappers, find,
// shells, interpreters and package runners.
//
// SHELL-RUNS-1. An argument of an unknown program that names a command with effects is judged as a
//     command: the program may run it.

import { optionsOf, optionValues, type Shape } from './arguments.ts'
import { hasChanges } from './changes.ts'
import { Denial, hidden, unclear } from './denial.ts'
import { anyName, anything, isPlain, isUnknown, list, nameOf } from './field.ts'
import { checkCode, invocation, isInterpreter } from './inline.ts'
import { apart, checkFile, checkSecret, checkWrite, type Place } from './place.ts'
import { checkNotWeir, isNet, isPlainProgram, isRefused, isShell } from './programs.ts'

type Judge = (fields: readonly string[], place: Place) => void

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

/** The files that it removes, and the commands that it runs on them. */
export function judgeFind(args: readonly string[], place: Place, judge: Judge): void {
  const first = args.findIndex((arg) => /^(-(?![HLP]$)|[(!])/.test(arg))
  const head = (first < 0 ? args : args.slice(0, first)).filter((arg) => !arg.startsWith('-'))
  const paths = head.length === 0 ? ['.'] : head
  const odd = args.find((arg) => /^-(files0|fprint|fls|ok|execdir)|^\uE000/.test(arg))
  if (odd) throw unclear('find', odd)
  if (args.includes('-delete')) for (const path of paths) checkWrite(path, 'find -delete', place)
  for (const [i, arg] of args.entries()) {
    if (arg !== '-exec') continue
    const rest = args.slice(i + 1)
    const length = rest.findIndex((one, j) => one === ';' || (one === '+' && rest[j - 1] === '{}'))
    const inner = length < 0 ? rest : rest.slice(0, length)
    for (const path of paths) {
      const found = `${path.replace(/\/$/, '')}/${anyName}`
      const fields = inner.map((field) => field.replaceAll('{}', found))
      judge(fields, apart(place))
    }
  }
}

// ── Shells and interpreters ──

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
  else if (file !== undefined && file !== '-') checkFile(file, name, place)
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

/** Modules of Python that run code or write files. */
const modules =
  /^(code|pdb|bdb|asyncio|idlelib|timeit|trace|runpy|cProfile|profile|IPython|zipfile|tarfile|gzip|py_compile|compileall|zipapp|pickletools|sqlite3|ensurepip)(\.|$)/

/** `python FILE`, `python -c CODE`, `python -m MODULE`, `… | python -`. */
export function judgeInterpreter(
  name: string,
  args: readonly string[],
  place: Place,
  judge: Judge,
): void {
  const { code, file, module, reads } = invocation(name, args)
  for (const arg of args) checkNotWeir(arg)
  for (const one of code) checkCode(name, one)
  if (module !== undefined) {
    const [first = ''] = module
    if (!isPlain(first) || modules.test(first)) throw unclear(name, `-m ${first}`)
    if (/^(pip|venv|json\.tool)$/.test(first)) judge(module, place)
  }
  if (file !== undefined) checkFile(file, name, place)
  if (reads)
    judgeInput(name, place, (text) => {
      checkSecret(text, place)
      checkCode(name, text)
    })
}

const readFirst = 'Save it to a file and read it. Then run the commands of it that you need.'

function fromNet(name: string): Denial {
  return new Denial('net-into-shell', `${name} would run data from the net`, readFirst)
}

function judgeInput(name: string, place: Place, run: (text: string) => void): void {
  const { input, whole } = place
  if (input.kind === 'pipe' && whole.net) throw fromNet(name)
  if (input.kind === 'pipe')
    throw new Denial('unseen-script', `${name} would run the output of another command`, readFirst)
  if (input.kind === 'file') checkFile(input.path, name, place)
  if (input.kind === 'text') run(input.text)
}

// ── Commands inside of other programs ──

/** Their own subcommands: no word behind them is a command, or they are none themselves. */
const managers = /^(npm|pnpm|yarn|bun|pipx|gem|cargo)$/
const listing = /^(ls|list|view|info|i|ci|install|add|why|outdated)$/
const running = /^(exec|install|link|unlink|rm|patch|init|view|env|watch|script|build)$/

/** Keeps SHELL-RUNS-1. */
export function judgeInner(
  base: string,
  args: readonly string[],
  place: Place,
  judge: Judge,
): void {
  if (isPlainProgram(base) || hasChanges(base) || isInterpreter(base)) return
  if (place.input.kind === 'pipe' && place.whole.net && !isNet(base)) throw fromNet(base)
  let words = args
  if (managers.test(base)) {
    const first = args.findIndex((arg) => !arg.startsWith('-'))
    const own = args[first] ?? ''
    if (listing.test(own) && first === 0) return
    for (const one of [...args, ...optionValues(args, '-p --package')]) checkNotWeir(one)
    if (args.some((arg) => /^(exe?c?|x)$/.test(arg)))
      for (const script of optionValues(args, '-c --call')) runScript(script, base, place)
    if (/^ru/.test(own)) return
    if (running.test(own)) words = args.slice(first + 1)
  }
  for (const [i, arg] of words.entries()) {
    if (hasEffect(arg)) judge(words.slice(i), place)
    // A whole command in one argument, also behind an option's name.
    const [, script = ''] = /^(?:-[\w-]+=)?(\S+\s.*)$/s.exec(arg) ?? []
    if (hasEffect(list(script)[0] ?? '')) runScript(script, base, place)
  }
}

function hasEffect(name: string): boolean {
  const base = nameOf(name)
  const isKnown = isRefused(base) || isWrapper(base) || isShell(base) || isInterpreter(base)
  return base !== '' && !isUnknown(base) && (isKnown || hasChanges(base))
}
