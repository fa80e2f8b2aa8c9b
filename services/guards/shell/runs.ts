// Commands that run another command or a script given in their arguments or input: wrappers, find,
// shells and interpreters.

import { commandLine, valuesOf } from './command-line.ts'
import { anyName, anything, isPlain, isUnknown, list, nameOf, pipeName } from './field.ts'
import { checkCode, invocation } from './inline.ts'
import {
  assigned,
  both,
  checkSecret,
  checkWrite,
  deeper,
  isDevice,
  type Outcome,
  type Place,
  wasFetched,
} from './place.ts'
import { checkNotWeir, isPlainProgram } from './programs.ts'
import { Refusal, shown } from './refusal.ts'
import { checkSetting } from './settings.ts'

type Judge = (fields: readonly string[], place: Place) => Outcome

// ── Wrappers ──

/** By name: options without a value, and options with one. */
const wrappers: Record<string, [flags: string, valued: string]> = {
  sudo: ['-b -E -H -n -S -k --preserve-env --non-interactive', '-u -g -p --user --group'],
  env: ['-i -0 --ignore-environment --null', '-u --unset'],
  xargs: [
    '-0 -r -t -x --null --no-run-if-empty --verbose',
    '-I -n -P -L -s -d --max-args --max-procs --max-lines --delimiter --replace',
  ],
  nohup: ['', ''],
  setsid: ['-f -w', ''],
  stdbuf: ['', '-i -o -e'],
  nice: ['', '-n --adjustment'],
  ionice: ['-t', '-c -n'],
  timeout: ['-v --preserve-status --foreground', '-k -s --kill-after --signal'],
  time: ['-p -v', ''],
  watch: ['-d -t -b -e -g', '-n --interval'],
  command: ['-p -v -V', ''],
  exec: ['-c -l', ''],
}

export function isWrapper(name: string): boolean {
  return Object.hasOwn(wrappers, name)
}

/** Reads the options up to the inner command. An unknown option may hide its beginning. */
export function judgeWrapped(
  name: string,
  args: readonly string[],
  place: Place,
  judge: Judge,
): Outcome {
  const [flags, valued] = wrappers[name] as [string, string]
  const line = commandLine(args, valued, true)
  const unknown = line.options.find((one) => !list(`${flags} ${valued}`).includes(one.name))
  let fields = line.operands.slice(name === 'timeout' ? 1 : 0)
  const isOpen =
    fields[0]?.startsWith('-') ||
    (name === 'watch' && !fields.every((one) => /^[\w./=:@,+-]+$/.test(one)))
  if (unknown !== undefined || line.uncertain !== undefined || isOpen)
    throw new Refusal(
      'unknowable',
      `the command that ${name} runs cannot be seen with "${shown(unknown?.name ?? line.uncertain ?? fields.join(' '))}"`,
      `Run the command without ${name}, or with its plain options.`,
    )
  if (name === 'watch' && !isPlainProgram(fields[0] ?? ''))
    throw new Refusal('unknowable', 'watch runs it again and again', 'Run it without watch.')
  if (name === 'command' && line.options.some((one) => one.name !== '-p')) return both(place.state)
  let { state } = place
  // Another user has another home. The words are expanded already.
  if (name === 'sudo') state = assigned(state, 'HOME', undefined)
  while (/^(sudo|env)$/.test(name) && fields[0]?.includes('=')) {
    const [, key, text = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(fields[0]) ?? []
    if (key === undefined)
      throw new Refusal('unreadable', `${name} sets an odd variable`, 'Use a plain name.')
    fields = fields.slice(1)
    checkSetting(key, text, place, nameOf(fields.find((one) => !one.includes('=')) ?? ''))
    if (key === 'HOME') state = assigned(state, key, text)
  }
  if (name === 'xargs') fields = withInput(fields, valuesOf(line, '-I --replace').at(-1), place)
  const outcome = judge(fields, { ...place, state })
  return name === 'command' ? outcome : both(place.state)
}

/** The words that xargs reads are unknown, but their place is known. */
function withInput(fields: string[], mark: string | undefined, place: Place): string[] {
  const inner = fields.length === 0 ? ['echo'] : fields
  const word = place.input.kind === 'names' ? `./${anyName}` : anything
  if (mark === undefined) return [...inner, word]
  if (mark === '' || isUnknown(mark))
    throw new Refusal('unknowable', 'the place of the words of xargs is not known', 'Use -I{}.')
  return inner.map((field) => field.replaceAll(mark, word))
}

// ── find ──

/** The files that it removes or writes, and the commands that it runs on them. */
export function judgeFind(args: readonly string[], place: Place, judge: Judge): void {
  const first = args.findIndex((arg) => /^(-(?![HLP]$|O\d*$|D$)|[(!])/.test(arg))
  const head = (first < 0 ? args : args.slice(0, first)).filter((arg) => !arg.startsWith('-'))
  const paths = head.length === 0 ? ['.'] : head
  for (let i = Math.max(first, 0); i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '-files0-from' || (isUnknown(arg) && arg[0] === anything))
      throw new Refusal('unknowable', 'the start or action of find is not known', 'Write it out.')
    if (arg === '-delete') for (const path of paths) checkWrite(path, 'find -delete', place)
    if (/^-(fprint0?|fls|fprintf)$/.test(arg)) checkWrite(args[i + 1] ?? '', `find ${arg}`, place)
    if (!/^-(exec|ok)(dir)?$/.test(arg)) continue
    const length = args
      .slice(i)
      .findIndex((one, j, rest) => one === ';' || (one === '+' && rest[j - 1] === '{}'))
    const end = length < 0 ? args.length : i + length
    // `{}` is a file below the path. -execdir runs in that file's folder.
    const inFolder = arg.endsWith('dir')
    const state = inFolder ? { ...place.state, folders: undefined } : place.state
    for (const path of paths) {
      const found =
        inFolder && !path.startsWith('/') ? anything : `${path.replace(/\/$/, '')}/${anyName}`
      const fields = args.slice(i + 1, end).map((field) => field.replaceAll('{}', found))
      judge(fields, { ...place, state })
    }
    i = end
  }
}

// ── Shells and interpreters ──

const standardInput = /^(-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/

/** `bash -c SCRIPT`, `bash FILE`, `… | bash`. */
export function judgeShell(name: string, args: readonly string[], place: Place): void {
  const line = commandLine(
    args.map((arg) => (/^\+\w+$/.test(arg) ? `-${arg.slice(1)}` : arg)),
    '-o -O',
    true,
  )
  const odd = line.options.find(
    (one) => !/^-[a-zA-Z]$|^--(login|norc|noprofile|posix|version|help)$/.test(one.name),
  )
  if (odd !== undefined || line.uncertain !== undefined)
    throw hiddenScript(name, odd?.name ?? line.uncertain ?? '')
  // Options may follow `-c`.
  const [first] = line.operands
  const given = line.options.map((one) => one.name)
  if (given.includes('-c')) runScript(first ?? '', name, place)
  else if (given.includes('-s') || first === undefined || standardInput.test(first))
    judgeInput(name, place, (text) =>
      runScript(text, name, { ...place, input: { kind: 'nothing' } }),
    )
  else checkFile(first, name, place)
}

/** A script in a new shell. It gets only exported variables, and all but HOME count as unknown. */
export function runScript(script: string, name: string, place: Place): void {
  if (!isPlain(script)) throw hiddenScript(name, script)
  const { folders, variables } = place.state
  const home = variables.get('HOME') ?? anything
  place.walk(script, { ...deeper(place), state: { folders, variables: new Map([['HOME', home]]) } })
}

/** `python FILE`, `python -c CODE`, `… | python -`. */
export function judgeInterpreter(name: string, args: readonly string[], place: Place): void {
  const { code, file, isQuery } = invocation(name, args)
  for (const one of code) checkCode(name, one, place)
  for (const arg of args) {
    checkNotWeir(arg)
    if (/^(--[\w-]+=)?(data|https?):/.test(arg)) throw hiddenScript(name, arg)
  }
  if (isQuery || (code.length > 0 && file !== undefined)) return
  if (code.length > 0 && !/^(sqlite3|psql|mysql|mariadb)$/.test(name)) return
  if (file === undefined || standardInput.test(file))
    judgeInput(name, place, (text) => {
      checkSecret(text, place)
      checkCode(name, text, place)
    })
  else checkFile(file, name, place)
}

function judgeInput(name: string, { input, ...place }: Place, run: (text: string) => void): void {
  switch (input.kind) {
    case 'net':
      throw fromNet(name)
    case 'pipe':
    case 'names':
      throw new Refusal(
        'unseen-script',
        `${name} would run the output of another command, which cannot be seen beforehand`,
        'Write the commands out, or run a script file by its name.',
      )
    case 'file':
      return checkFile(input.path, name, { ...place, input })
    case 'text':
      return run(input.text)
    case 'nothing':
      return
  }
}

/** A script in a file is not visible. It must not run if it was just fetched or is not named. */
export function checkFile(file: string, name: string, place: Place): void {
  if (wasFetched(file, place)) throw fromNet(name)
  if (file.includes(pipeName) || isUnknown(file) || file === '-' || isDevice(file, place))
    throw hiddenScript(name, file)
  checkNotWeir(file)
}

function fromNet(name: string): Refusal {
  return new Refusal(
    'net-into-shell',
    `${name} would run data from the net`,
    'Save it to a file and read it; then run the commands of it that you need.',
  )
}

function hiddenScript(name: string, part: string): Refusal {
  return new Refusal(
    'unseen-script',
    `${name} runs a script of which "${shown(part)}" is only known when it runs`,
    'Write the commands out, without a shell around them.',
  )
}
