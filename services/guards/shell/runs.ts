// Commands that run another command or a script given in their arguments or input: find, shells,
// interpreters, and programs of the project. programs/usage.ts judges wrappers such as sudo.
//
// An argument for a program of the project that names a command with effects is
// judged as a command: the program may run it.

import { Denial, hidden, unlisted } from './denial.ts'
import { anyName, anything, isPlain, list, nameOf } from './field.ts'
import { checkCode } from './inline.ts'
import { checkNotWeir } from './own-control.ts'
import { apart, checkProjectFile, checkSecret, checkWrite, type Place } from './place.ts'
import { lastKind, mayChange, type Reading, read } from './programs/usage.ts'

// ── find ──

/** The files that it removes, and the commands that it runs on them. */
export function judgeFind(args: readonly string[], place: Place): void {
  const execs: string[][] = []
  const rest = [...args]
  for (let at = rest.indexOf('-exec'); at >= 0; at = rest.indexOf('-exec')) {
    const isEnd = (one: string, i: number) => one === ';' || (one === '+' && rest[i - 1] === '{}')
    const end = rest.findIndex((one, i) => i > at && isEnd(one, i))
    const [, ...words] = rest.splice(at, end < 0 ? rest.length : end + 1 - at)
    execs.push(end < 0 ? words : words.slice(0, -1))
  }
  const { operands, seen } = read('find', rest)
  const odd = operands.find((one) => one.startsWith('-'))
  if (odd !== undefined) throw unlisted('find', odd)
  const named = operands.filter((one) => !/^[(),!]$/.test(one))
  for (const path of named.length === 0 ? ['.'] : named) {
    const match = `${path.replace(/\/$/, '')}/${anyName}`
    for (const words of execs) {
      const fields = words.map((word) => word.replaceAll('{}', match))
      place.judge(fields, apart(place))
    }
    if (seen.has('-delete')) checkWrite(path, 'find -delete', place)
  }
}

// ── Shells and interpreters ──

/** `bash -c SCRIPT`, `bash FILE`, `… | bash`. */
export function judgeShell(name: string, args: readonly string[], place: Place): void {
  const { values, seen, rest } = read(name, args)
  const [, script] = values.find(([kind]) => kind === 'code') ?? []
  const [file] = seen.has('-s') ? [] : rest
  if (script?.startsWith('-')) throw hidden(name, script)
  if (script !== undefined) runScript(script, name, place)
  else if (file !== undefined && file !== '-') checkProjectFile(file, name, place)
  else if (!seen.has('--version') && !seen.has('--help'))
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
export function judgeInterpreter(name: string, args: readonly string[], place: Place): void {
  const { values, seen, rest } = read(name, args)
  const isQuery = lastKind(name) === 'query'
  const code = [...valuesOf('code', values), ...(isQuery ? rest.slice(1) : [])]
  for (const one of code) checkCode(name, one, place)
  const [module] = valuesOf('module', values)
  if (module !== undefined) {
    if (!modules.test(module)) throw unlisted(name, `-m ${module}`)
    return place.judge([module, ...rest], place)
  }
  const [file] = isQuery || code.length > 0 ? [] : rest
  if (file !== undefined && file !== '-') checkProjectFile(file, name, place)
  judgeProjectWords(args, name, place)
  const isAbout = [...seen].some((one) => /^(-[vVh]|--(version|help|test))$/.test(one))
  if (code.length > 0 || (file === undefined ? isAbout : file !== '-')) return
  judgeInput(name, place, (text) => {
    checkSecret(text, place)
    checkCode(name, text, place)
  })
}

function valuesOf(kind: string, values: Reading['values']): string[] {
  return values.flatMap(([one, value]) => (one === kind ? [value] : []))
}

/** Checks a program for sed or awk, and the files that sed or perl change in place. */
export function judgeEdits(name: string, args: readonly string[], place: Place): void {
  const isPerl = lastKind(name) !== 'edited'
  if (isPerl && !args.some((arg) => /^-\w*i/.test(arg))) return
  const { values, seen, operands, rest } = read(name, args)
  const words = [...operands, ...rest]
  const given = valuesOf('code', values)
  const [code, files] = given.length > 0 ? [given, words] : [words.slice(0, 1), words.slice(1)]
  if (!isPerl) for (const one of code) checkCode(name, one, place)
  const isInPlace = [...seen].some((one) => /^-\w*i|^--in/.test(one))
  for (const path of isInPlace ? files : []) checkWrite(path, name, place)
}

const readFirst = 'Save it to a file and read it. Then run the commands of it that you need.'

/** A program of the project may run its input. */
export function refuseFromNet(name: string, { input, whole }: Place): void {
  if (input.kind === 'pipe' && whole.net)
    throw new Denial('net-into-shell', `${name} would run data from the net`, readFirst)
}

function judgeInput(name: string, place: Place, run: (text: string) => void): void {
  const { input } = place
  refuseFromNet(name, place)
  if (input.kind === 'pipe')
    throw new Denial('unseen-script', `${name} would run the output of another command`, readFirst)
  if (input.kind === 'file') checkProjectFile(input.path, name, place)
  if (input.kind === 'text') run(input.text)
}

// ── Programs of the project ──

export function judgeProjectWords(args: readonly string[], base: string, place: Place): void {
  for (const [i, arg] of args.entries()) {
    checkNotWeir(arg)
    if (mayChange(nameOf(arg))) place.judge(args.slice(i), place)
    // A whole command in one argument, also after an option's name.
    const [, script = ''] = /^(?:-[\w-]+=)?(\S+\s.*)$/s.exec(arg) ?? []
    if (mayChange(nameOf(list(script)[0] ?? ''))) runScript(script, base, place)
  }
}
