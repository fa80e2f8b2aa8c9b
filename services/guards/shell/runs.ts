// Commands that run another command or a script given in their arguments or input: wrappers, find,
// shells and interpreters.

import { commandLine, has, valuesOf } from './command-line.ts'
import { anyName, anything, isPlain, isUnknown, list, pipeName } from './field.ts'
import { checkCode, invocation } from './inline.ts'
import { nameOf } from './paths.ts'
import { checkSecret, checkWrite, deeper, isDevice, type Place, wasFetched } from './place.ts'
import { checkNotWeir } from './programs.ts'
import { Refusal, shown } from './refusal.ts'
import { checkSetting } from './settings.ts'
import { assigned, both, type Outcome } from './state.ts'

type Judge = (fields: readonly string[], place: Place) => Outcome

// ── Wrappers ──

type Wrapper = { flags?: string; valued?: string; positional?: number; settings?: boolean }

const wrappers: Record<string, Wrapper> = {
  sudo: {
    flags: '-b -E -H -n -S -k --preserve-env --non-interactive --set-home --stdin',
    valued: '-u -g -p --user --group --prompt',
    settings: true,
  },
  env: { flags: '-i - -0 -v --ignore-environment --null', valued: '-u --unset', settings: true },
  xargs: {
    flags: '-0 -r -t -x -o --null --no-run-if-empty --verbose --exit --open-tty',
    valued:
      '-I -n -P -L -s -d -E -a --max-args --max-procs --max-lines --delimiter --arg-file --replace --max-chars',
  },
  nohup: {},
  setsid: { flags: '-c -f -w --ctty --fork --wait' },
  stdbuf: { valued: '-i -o -e --input --output --error' },
  nice: { flags: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9', valued: '-n --adjustment' },
  ionice: { flags: '-t', valued: '-c -n --class --classdata' },
  timeout: {
    flags: '-v --preserve-status --foreground --verbose',
    valued: '-k -s --kill-after --signal',
    positional: 1,
  },
  time: {
    flags: '-p -v -a -q --portability --verbose --append --quiet',
    valued: '-f -o --format --output',
  },
  command: { flags: '-p -v -V' },
  builtin: {},
  exec: { flags: '-c -l', valued: '-a' },
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
  const { flags = '', valued = '', positional = 0, settings = false } = wrappers[name] as Wrapper
  const line = commandLine(args[0] === '-' ? args.slice(1) : args, valued, true)
  const unknown = line.options.find((one) => !list(`${flags} ${valued}`).includes(one.name))
  if (unknown !== undefined || line.uncertain !== undefined)
    throw new Refusal(
      'unknowable',
      `the command that ${name} runs cannot be seen with "${shown(unknown?.name ?? line.uncertain ?? '')}"`,
      `Run the command without ${name}, or with its plain options.`,
    )
  if (name === 'time')
    for (const path of valuesOf(line, '-o --output')) checkWrite(path, name, place)
  if (name === 'command' && has(line, '-v -V')) return both(place.state)
  let fields = line.operands.slice(positional)
  let { state } = place
  // Another user has another home. The words are expanded already.
  if (name === 'sudo') state = assigned(state, 'HOME', undefined)
  while (settings && fields[0]?.includes('=')) {
    const [, key, text = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(fields[0]) ?? []
    if (key === undefined)
      throw new Refusal('unreadable', `${name} sets an odd variable`, 'Use a plain name.')
    fields = fields.slice(1)
    checkSetting(key, text, place, nameOf(fields.find((one) => !one.includes('=')) ?? ''))
    if (key === 'HOME') state = assigned(state, key, text)
  }
  if (name === 'xargs') fields = withInput(fields, valuesOf(line, '-I --replace').at(-1))
  const outcome = judge(fields, { ...place, state })
  if (name === 'exec' && fields.length > 0) return both(undefined)
  return name === 'command' || name === 'builtin' ? outcome : both(place.state)
}

/** The words that xargs reads are unknown, but their place is known. */
function withInput(fields: string[], mark: string | undefined): string[] {
  const inner = fields.length === 0 ? ['echo'] : fields
  if (mark === undefined) return [...inner, anything]
  if (mark === '' || isUnknown(mark))
    throw new Refusal('unknowable', 'the place of the words of xargs is not known', 'Use -I{}.')
  return inner.map((field) => field.replaceAll(mark, anything))
}

// ── find ──

/** The files that it removes or writes, and the commands that it runs on them. */
export function judgeFind(args: readonly string[], place: Place, judge: Judge): Outcome {
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
      judge(fields, { ...place, state, leaps: [] })
    }
    i = end
  }
  return both(place.state)
}

// ── Shells and interpreters ──

const standardInput = /^(-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/

/** `bash -c SCRIPT`, `bash FILE`, `… | bash`. */
export function judgeShell(name: string, args: readonly string[], place: Place): Outcome {
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
  if (has(line, '-c')) runScript(first ?? '', name, place)
  else if (has(line, '-s') || first === undefined || standardInput.test(first))
    judgeInput(name, place, (text) =>
      runScript(text, name, { ...place, input: { kind: 'nothing' } }),
    )
  else checkFile(first, name, place)
  return both(place.state)
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
  for (const one of code) checkCode(name, one)
  for (const arg of args) {
    checkNotWeir(arg)
    if (/^(--[\w-]+=)?(data|https?):/.test(arg)) throw hiddenScript(name, arg)
  }
  if (isQuery || (code.length > 0 && file !== undefined)) return
  if (code.length > 0 && !/^(sqlite3|psql|mysql|mariadb)$/.test(name)) return
  if (file === undefined || standardInput.test(file))
    judgeInput(name, place, (text) => {
      checkSecret(text, place)
      checkCode(name, text)
    })
  else checkFile(file, name, place)
}

function judgeInput(name: string, { input, ...place }: Place, run: (text: string) => void): void {
  switch (input.kind) {
    case 'net':
      throw fromNet(name)
    case 'pipe':
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
