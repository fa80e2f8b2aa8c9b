// Judges a program by its row in rows.ts: each option and operand has a kind, and each kind is
// checked.
//
// An option or operand that the row does not name is refused, and so is a word whose
// place among them is only known at run time.

import { unclear, unlisted } from '../denial.ts'
import { anything, isPlain, list } from '../field.ts'
import { checkNotServer, checkNotWeir } from '../own-control.ts'
import {
  apart,
  checkProjectFile,
  checkWrite,
  foldersOf,
  type Place,
  refuseFetchedRules,
  rulesFile,
} from '../place.ts'
import { plainValue } from '../variables.ts'
import { programs } from './rows.ts'

type Option = { kind: string; value: 'none' | 'next' | 'attached'; ends: boolean }
type Operand = { kind: string; repeats: boolean; takesAll: boolean }
type Usage = {
  options: Map<string, Option>
  patterns: RegExp[]
  operands: Operand[]
  marks: Set<string>
}

const marks = list('any-option net package here unpacks sub spaced versioned')

// ── The rows ──

const rows = new Map<string, string[]>()
for (const row of programs.trim().split(/\n(?! )/)) {
  const end = row.search(/: |:\n/)
  const tokens = list(row.slice(end + 1))
  for (const name of row.slice(0, end).split(',')) rows.set(list(name).join(' '), tokens)
}
const usages = new Map<string, Usage>()

function usageOf(name: string): Usage | undefined {
  const tokens = name.startsWith('<') ? undefined : rows.get(name)
  const usage = usages.get(name) ?? (tokens && readUsage(tokens))
  if (usage !== undefined) usages.set(name, usage)
  if (usage !== undefined || !/[\d.]$/.test(name)) return usage
  const versioned = usageOf(name.replace(/[\d.]+$/, ''))
  return versioned?.marks.has('versioned') ? versioned : undefined
}

function readUsage(tokens: readonly string[]): Usage {
  const usage: Usage = { options: new Map(), patterns: [], operands: [], marks: new Set() }
  for (const token of tokens.flatMap((one) => rows.get(one.startsWith('<') ? one : '') ?? [one])) {
    const [, option, end, given] = /^(--?[^:?!]*[^:?!.])(?:([?!.]$)|:(.*))?$/.exec(token) ?? []
    const kind = given === '' ? 'text' : (given ?? '').replace(/\.\.\.$/, '')
    const rule: Option = {
      kind: end === '.' ? 'here' : kind,
      value: kind === '' ? 'none' : 'next',
      ends: given?.endsWith('...') === true,
    }
    if (end === '?') rule.value = 'attached'
    if (marks.includes(token)) usage.marks.add(token)
    else if (/^\/(-|\\\+)/.test(token)) usage.patterns.push(new RegExp(`^(${token.slice(1, -1)})$`))
    else if (option === undefined) usage.operands.push(operandOf(token))
    else if (option.startsWith('--') || end === '!' || (kind !== '' && option.length > 2))
      usage.options.set(option, rule)
    else for (const letter of option.slice(1)) usage.options.set(`-${letter}`, rule)
  }
  return usage
}

function operandOf(token: string): Operand {
  const [, kind = '', end] = /^(.*?)(\*|\.\.\.)?$/.exec(token) ?? []
  return { kind, repeats: end === '*', takesAll: end === '...' }
}

/** Whether this program has a row, and it does more than read. */
export function mayChange(base: string): boolean {
  return isPlain(base) && usageOf(base)?.marks.has('any-option') === false
}

/** Whether it runs a command or a program from its arguments. Other rules judge its operands. */
function isStarter({ operands }: Usage): boolean {
  return /^(command|shell|file|query|edited)$/.test(operands.at(-1)?.kind ?? '')
}

/** The kind of a program's last operand. Undefined: it has no row, or no operands. */
export function lastKind(base: string): string | undefined {
  return usageOf(base)?.operands.at(-1)?.kind
}

// ── Reading the arguments ──

/** `rest`: the words after the operands that a row names separately. `seen`: the options. */
export type Reading = {
  usage: Usage
  operands: string[]
  values: [kind: string, value: string][]
  seen: Set<string>
  rest: string[]
}

export function read(name: string, args: readonly string[]): Reading {
  const usage = usageOf(name)
  if (usage === undefined) throw unlisted(name)
  const { operands: kinds, marks } = usage
  const reading: Reading = { usage, operands: [], values: [], seen: new Set(), rest: [] }
  const { seen } = reading
  const isDone = () => marks.has('sub') || kinds[reading.operands.length]?.takesAll === true
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    const isUncertain = arg[0] === anything && !(arg === anything && isStarter(usage))
    if (arg === '--') {
      const rest = args.slice(at + 1)
      if (isDone()) return { ...reading, rest }
      if (kinds.at(-1)?.takesAll) throw unclear(name, arg)
      return { ...reading, operands: [...reading.operands, ...rest] }
    }
    const isOption =
      /^-./s.test(arg) || (/^\+./s.test(arg) && (isStarter(usage) || usage.patterns.length > 0))
    if (isUncertain && !marks.has('any-option')) throw unclear(name, arg)
    if (!isOption || isUncertain) {
      if (isDone()) return { ...reading, rest: args.slice(at) }
      reading.operands.push(arg)
      continue
    }
    if (marks.has('any-option')) continue
    const isPattern = usage.patterns.some((one) => one.test(arg))
    if (isPattern) seen.add(arg)
    for (const [option, rule, attached] of isPattern ? [] : optionsIn(name, usage, arg)) {
      const { kind, value, ends } = rule
      if (kind === 'write' && seen.has(option)) throw unclear(name, `${option} a second time`)
      if (marks.has('spaced') && attached !== undefined) throw unclear(name, arg)
      seen.add(option)
      const isNext = value === 'next' && attached === undefined
      const text = isNext ? args[++at] : attached
      if (isNext && (text === undefined || (text[0] === anything && kind !== 'message')))
        throw unclear(name, text ?? arg)
      if (kind !== '') reading.values.push([kind, text ?? '.'])
      if (ends) return { ...reading, rest: args.slice(at + 1) }
    }
  }
  return reading
}

/** The options that one word holds, each with the value that is attached to it. */
function optionsIn(
  name: string,
  usage: Usage,
  arg: string,
): [option: string, rule: Option, attached: string | undefined][] {
  const { options } = usage
  const equals = arg.indexOf('=')
  const word = equals < 0 ? arg : arg.slice(0, equals)
  const rule = options.get(word) ?? options.get(arg)
  const value = equals < 0 ? undefined : arg.slice(equals + 1)
  if (rule !== undefined && (word.length > 2 || value === undefined)) {
    if (value !== undefined && rule.value === 'none' && !options.has(arg)) throw unlisted(name, arg)
    return [[word, rule, value]]
  }
  const odd = isStarter(usage) ? unclear(name, arg) : unlisted(name, arg)
  if (/^(--|\+)/.test(arg)) throw odd
  if (options.has('-#') && /^-\d+$/.test(arg)) return []
  const found: [string, Option, string | undefined][] = []
  for (let i = 1; i < arg.length; i++) {
    const one = options.get(`-${arg[i]}`)
    if (one === undefined || arg[i] === '#') throw odd
    const rest = arg.slice(i + 1)
    found.push([`-${arg[i]}`, one, one.value === 'none' || rest === '' ? undefined : rest])
    if (one.value !== 'none') break
  }
  return found
}

// ── Judging ──

/** Judges a program of the table. */
export function judgeProgram(base: string, args: readonly string[], outer: Place): void {
  const place = { ...outer, facts: { ...outer.facts } }
  const words = base === 'tar' ? tarWords(args) : args
  let name = base === 'tar' ? `tar ${words[0]}` : base
  let rest: readonly string[] = words
  for (;;) {
    const reading = read(name, rest)
    const { whole } = place
    const { usage } = reading
    whole.net ||= usage.marks.has('net')
    whole.unnamed ||= usage.marks.has('unpacks')
    if (usage.marks.has('here') && !/^(git|wget)$/.test(base)) refuseFetchedRules(base, place)
    whole.hasFetchedRules ||= whole.net && bringsRules(base, args, reading)
    whole.unnamed ||= namesOwnFile.test([base, ...args].join(' '))
    for (const [kind, value] of reading.values) check(kind, value, base, place)
    for (const [kind, word] of placed(name, usage, reading.operands)) {
      if (takesFiles(base, usage) && /^@(?!\.\.)[\w./-]/.test(word)) throw unlisted(name, word)
      check(kind, word, base, place)
    }
    if (usage.marks.has('here')) checkWrite('.', base, place)
    checkLink(base, args, whole)
    if (reading.rest.length === 0) return
    rest = reading.rest
    const last = usage.operands[reading.operands.length]?.kind
    if (last === 'packaged' && !usageOf(rest[0] ?? '')?.marks.has('package'))
      throw unlisted(`${name} ${rest[0]}`)
    if (last === 'command' || last === 'packaged')
      return place.judge(base === 'xargs' ? withInput(reading) : rest, inner(base, rest, place))
    if (!usage.marks.has('sub')) return
    name = `${name} ${rest[0]}`
    rest = rest.slice(1)
  }
}

/** The place of a command that another one runs. */
function inner(base: string, [name = '']: readonly string[], outer: Place): Place {
  if (/^-|=/.test(name)) throw unclear(base, name)
  const place = apart(outer)
  // Another user or environment has another home. The words are expanded already.
  if (/^(sudo|env)$/.test(base)) place.facts.variables.delete('HOME')
  return place
}

/** The words that xargs reads are unknown, but their place is known. */
function withInput({ rest, values }: Reading): string[] {
  const [, mark] = values.findLast(([kind]) => kind === 'mark') ?? []
  if (mark === undefined) return [...rest, anything]
  // Any -L, and another -n than 1, makes xargs ignore the mark.
  const isIgnored = values.some(
    ([kind, value]) => kind === 'lines' || (kind === 'lot' && value !== '1'),
  )
  if (mark === '' || !isPlain(mark) || isIgnored) throw unclear('xargs', mark)
  return rest.map((field) => field.replaceAll(mark, anything))
}

/** Whether an operand with `@` may name a file with further arguments. */
function takesFiles(base: string, { marks }: Usage): boolean {
  return (
    !/^(p?npm|yarn|bun|jest|vitest)$/.test(base) && !marks.has('net') && !marks.has('any-option')
  )
}

/** Whether it may write such a file: by its target, its option, or the address. */
function bringsRules(base: string, args: readonly string[], reading: Reading): boolean {
  const { operands, values } = reading
  if (/^(cp|mv|ln|install)$/.test(base)) return rulesFile.test(operands.at(-1) ?? '')
  if (/^(tee|dd|scp|rsync)$/.test(base)) return operands.some((word) => rulesFile.test(word))
  if (!/^(curl|wget)$/.test(base)) return false
  const written = values.filter(([kind]) => kind === 'write').map(([, word]) => word)
  const isNamed = namesByAddress.test([base, ...args].join(' '))
  const files = isNamed ? [...written, ...operands] : written
  return files.some((word) => rulesFile.test(word) || codeFile.test(word))
}

/** A fetched file that a build or a test may run. */
const codeFile =
  /\.([cm]?[jt]sx?|py|go|rs|rb|java|kts?|gradle|c|cc|cpp|h|hpp|ninja|cmake|toml)$|\.\w+rc$|(^|\/)Gemfile$/

const namesByAddress = /^(wget|curl(?=.* (-\w*O|--remote-name))) /s
/** An address from which curl or wget makes the name of a file, by more than its last part. */
const namesOwnFile = new RegExp(String.raw`${namesByAddress.source}.*://\S*[{[%?#]`, 's')

/** A relative link leads elsewhere from another folder, so one with `..` stays where it is made. */
function checkLink(base: string, args: readonly string[], whole: Place['whole']): void {
  const isUp = base === 'ln' && args.some((arg) => arg.includes('..'))
  const moves = /^(mv|cp|rsync|tar|zip|git mv|ln (?!-\w*s))/.test([base, ...args].join(' '))
  if ((isUp && args.at(-1)?.includes('/')) || (moves && whole.hasLinkUp)) throw unclear(base, '..')
  whole.hasLinkUp ||= isUp
}

/** Each operand with its kind. The last kind after a repeated one is that of the last operand. */
function placed(
  name: string,
  { operands: kinds }: Usage,
  operands: readonly string[],
): [kind: string, word: string][] {
  const many = kinds.findIndex(({ repeats }) => repeats)
  return operands.map((word, i) => {
    const isLast = many === 0 && i === operands.length - 1
    const kind = isLast ? kinds.at(-1) : kinds[many < 0 ? i : Math.min(i, many)]
    if (kind === undefined) throw unlisted(name, word)
    return [kind.kind, word]
  })
}

/** `tar xCf / a.tar`: the values of letters without a dash follow in order. */
function tarWords(args: readonly string[]): string[] {
  const [first = '', ...others] = args
  const isOld = /^[a-zA-Z]+$/.test(first)
  const letters = isOld ? [...first] : []
  const words = letters.flatMap((letter) =>
    /[fCX]/.test(letter) ? [`-${letter}`, others.shift() ?? ''] : [`-${letter}`],
  )
  const all = isOld ? [...words, ...others] : [...args]
  const clusters = all.filter((word) => /^-[a-zA-Z]/.test(word)).join('')
  const modes = new Set(clusters.match(/[ctx]/g))
  if (modes.size !== 1) throw unlisted('tar', args.join(' '))
  return [`-${[...modes][0]}`, ...all]
}

/** The forms of words, by their kinds. */
const forms: Readonly<Record<string, RegExp>> = {
  // The plain remote shell, and plain settings of ssh, start no other program.
  'ssh-setting':
    /^ssh( -(p|i|l) ?[\w./~-]+| -q| -T| -x)*$|^(StrictHostKeyChecking|ConnectTimeout|BatchMode|LogLevel|Port|User|ServerAlive\w+)[= ][\w./]+$|^UserKnownHostsFile[= ]\/dev\/null$/i,
  // The settings of git that a command may set: all others may name a command.
  'git-setting':
    /^(user\.(name|email)|color\.\w+|core\.(quotepath|autocrlf|longpaths|filemode|pager=(cat|less)?$)|advice\.\w+|commit\.gpgsign|init\.defaultbranch|gc\.auto|pull\.(rebase|ff)|push\.\w+|safe\.directory|merge\.conflictstyle|diff\.(renames|algorithm)|log\.\w+|fetch\.prune)(=|$)/i,
  // A package, or a script of the project. It is no address, and no archive that has scripts.
  name: /^(\.|[@\w](?!.*(:\/\/|\.(deb|rpm|tgz|whl|zip|gz)$))[\w./@+~^=<>![\],-]*)$/,
  setting: new RegExp(
    `^[\\w./%@+-]+$|^(?!(SHELL|MAKE\\w*)\\b)[A-Za-z_]\\w*[:?+]?=${plainValue.source.slice(1)}`,
  ),
  url: /^(https?:|(?!\w+:\/\/))/,
  dd: /^(if|of|bs|count|skip|seek|conv|status|[io]flag)=/,
}

/** Checks a word by its kind, which may be its form. */
function check(kind: string, word: string, base: string, place: Place): void {
  const form = kind.startsWith('/') ? new RegExp(kind.slice(1, -1)) : forms[kind]
  const isNumbered = kind === 'write' && base === 'curl' && /#\d/.test(word)
  if (isNumbered || form?.test(word) === false) throw unlisted(base, word)
  if (kind === 'url') checkNotServer(word)
  if (kind === 'name') checkNotWeir(word)
  if (kind === 'script') for (const path of word.split(':')) checkProjectFile(path, base, place)
  if (kind === 'here' || (/^(write|link|target|remove)$/.test(kind) && word !== '-' && word !== ''))
    if (kind !== 'target' || !/^[^/]*[a-z\d][^/]*:/i.test(word))
      checkWrite(word, base, place, kind === 'remove')
  if (kind === 'dd' && word.startsWith('of=')) checkWrite(word.slice('of='.length), base, place)
  if (kind === 'folder') place.facts.folders = foldersOf(word, place)
}
