// The purpose of a call, guessed from its name and command if its declaration does not state it.
//
// The rules need two answers. Can its success change something, which makes a failing call a new
// experiment? Does it wait, which makes the next look polling? In doubt it may have changed
// something: that can miss a loop, but never raises a false alarm.

import { isObject } from '../../../shared/lib/json/json-object.ts'
import { queryWord, statementEffect, withoutQueries } from '../meaning/sql.ts'
import { isLook, isPause, sleepsFor } from '../waiting/sleep.ts'
import { textHash } from './fingerprint.ts'

/** `opaque`: unknown. A new successful call of it counts as a change. */
export type Effect = 'reads' | 'changes' | 'waits' | 'opaque'

export type Operation = {
  effect: Effect
  /**
   * It waits, so the next look is polling. `look`: it also does more, so its answer tells whether
   * there is anything to wait for.
   */
  waits: 'no' | 'only' | 'look'
  /**
   * The unit that succeeds or fails: the tool, and for a shell the programs that it starts, with
   * their scripts and subcommands. Undefined: each call is its own unit, such as a sent text.
   */
  operation: string | undefined
  /** Whether one free text is the whole call, so different texts may mean the same. */
  freeText: boolean
}

/** `mutates`: the declaration of the tool, which has priority over any guess. */
export function operationOf(tool: string, value: unknown, mutates?: boolean | null): Operation {
  const guessed = guessedOperation(tool, value)
  if (mutates === true) return { ...guessed, effect: 'changes' }
  return mutates === false && guessed.effect !== 'waits' ? { ...guessed, effect: 'reads' } : guessed
}

function guessedOperation(tool: string, value: unknown): Operation {
  const words = wordsOf(tool)
  const command = isShell(words) ? commandIn(value) : undefined
  if (command !== undefined) return shellOperation(tool, command)
  const named = effectOf(words)
  const effect =
    named === 'waits' ? named : (statementEffect(value) ?? actionEffect(value) ?? named)
  return {
    effect,
    waits: waitsAs(effect === 'waits', effect === 'waits' && !namesTarget(value), commandIn(value)),
    operation: words.some((word) => sendWords.has(word)) ? undefined : tool,
    freeText: words.some((word) => searchWords.has(word)),
  }
}

/** Whether a tool with these words in its name runs commands. */
export function isShell(words: string[]): boolean {
  return words.some((word) => shellWords.has(word))
}

/** A tool with several commands names one of them: `{"command":"view"}`, `{"method":"GET"}`. */
function actionEffect(value: unknown): Effect | undefined {
  if (!isObject(value)) return undefined
  for (const key of actionMembers) {
    const action = Object.hasOwn(value, key) ? value[key] : undefined
    if (typeof action !== 'string' || !/^[a-z][a-z_-]{1,31}$/i.test(action)) continue
    const effect = effectOf(wordsOf(action))
    if (effect !== 'opaque') return effect
  }
  return undefined
}

const actionMembers = ['command', 'action', 'operation', 'op', 'method']

function waitsAs(isWait: boolean, isAlone: boolean, command = ''): Operation['waits'] {
  if (isWait && isAlone) return 'only'
  return isWait || isPause(command) ? 'look' : 'no'
}

/** A wait for a thing names it. A time alone is no name. */
function namesTarget(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.keys(value).some((name) =>
      /(?:id|ids|targets?|name|job|task|url|selector|text)$/i.test(name),
    )
  )
}

function effectOf(words: string[]): Effect {
  if (words.some((word) => waitWords.has(word))) return 'waits'
  // `get_order` and `read_mail` only read, although `order` and `mail` are verbs too.
  // `get_and_send` may do more.
  const verb = words.find((word) => changeWords.has(word) || readWords.has(word))
  if (verb !== undefined && lookingVerbs.has(verb) && !words.includes('and')) return 'reads'
  if (words.some((word) => changeWords.has(word))) return 'changes'
  if (words.some((word) => readWords.has(word))) return 'reads'
  return 'opaque'
}

/** All of `readFile`, `read_file`, `fs.read-file` and `mcp__fs__read_file` hold the word `read`. */
export function wordsOf(tool: string): string[] {
  const name = tool.slice(0, 256)
  const lower = name.toLowerCase()
  return (lower === name ? name : name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()).split(
    /[^a-z0-9]+/,
  )
}

/** Its name ends in a noun for the state of something, even if it has a verb: `build_status`. */
export function isStatusTool(tool: string): boolean {
  const last = wordsOf(tool).findLast((word) => word !== '')
  return last !== undefined && statusWords.has(last)
}

const statusWords = words('status state progress output result results info log logs')

/** Whether the word names an action, or a kind of tool. */
export function isVerb(word: string): boolean {
  return [shellWords, waitWords, searchWords, sendWords, readWords, changeWords].some((list) =>
    list.has(word),
  )
}

export function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

const shellWords = words(
  'shell bash sh zsh exec execute run command cmd terminal powershell process console',
)
const waitWords = words('sleep wait delay pause')
const searchWords = words('search find query grep lookup ask')
/** Their tools pass a text on. The text decides the effect. */
const sendWords = words('send type input stdin keys keystrokes')
const readWords = words(
  'read get list ls search find stat head tail grep fetch lookup look show view cat query describe inspect check status count peek browse open ' +
    'scan glob tree diff download explain analyze analyse ask recall retrieve load info history log logs exists test validate verify lint ' +
    'compare summarize calculate compute think thought thinking sequentialthinking reflect state',
)
const lookingVerbs = words('get read fetch show view describe lookup retrieve')
const changeWords = words(
  'write edit create delete update insert replace set move rename remove add append apply patch put post send save commit push merge install ' +
    'uninstall upload publish deploy restart start stop kill enable disable configure change modify copy mkdir touch chmod chown clear reset ' +
    'undo redo revert rollback submit book order pay cancel approve assign close reopen register import migrate build compile format fix notify ' +
    'mail email reply click type press navigate goto scroll grant revoke lock unlock rotate sync refactor store upsert mark toggle',
)

const commandMembers = ['command', 'cmd', 'script', 'code']

/** The command of a shell, or the program of an interpreter, as far as it is read. */
export function commandIn(value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  for (const key of commandMembers) {
    const command = Object.hasOwn(value, key) ? value[key] : undefined
    const script = isScript(command) ? command[2] : command
    if (typeof script === 'string' && script.trim() !== '') return script.slice(0, commandCharsMax)
  }
  return undefined
}

/** `["bash", "-lc", "npm test"]` */
function isScript(command: unknown): command is unknown[] {
  if (!Array.isArray(command)) return false
  const [shell, flag]: unknown[] = command
  return typeof shell === 'string' && shell.endsWith('sh') && (flag === '-c' || flag === '-lc')
}

/**
 * The part of a command that is read. Longer commands are scripts, which count as changes anyway.
 */
const commandCharsMax = 4096

/** Ignores quotes: their content may look like a change, which can only miss a loop. */
function shellOperation(tool: string, command: string): Operation {
  const effects = new Set<Effect>()
  const programs: string[] = []
  let sleepsAlone = true
  let onlyLooks = true
  for (const { program, argv, part } of programsIn(withoutQueries(command))) {
    const own = part.includes('>') ? 'changes' : programEffect(program, argv)
    if (programs.length < programsMax) programs.push(programWithPart(program, argv))
    if (!besideSleep.has(program)) sleepsAlone = false
    if (part.includes('>') || !looks([program, ...argv])) onlyLooks = false
    effects.add(own)
  }
  const effect = effectOfAll(effects)
  return {
    effect,
    // A program that only reads may name a sleep in its arguments: `grep "sleep 5" run.sh`.
    waits: waitsAs(
      effect === 'waits',
      sleepsAlone,
      effect === 'changes' && onlyLooks ? command : '',
    ),
    operation: `${tool} ${programs.join(' ')}`,
    freeText: true,
  }
}

/** Whether a part of a command only looks or waits: `until curl -sf localhost; do sleep 5; done`. */
function looks(argv: string[]): boolean {
  const at = argv.findIndex((word) => !keywords.has(word) && !/^\d/.test(word))
  const program = argv[at]
  if (program === undefined || argv[0] === 'for') return true
  const rest = argv.slice(at + 1)
  return programEffect(program, rest) !== 'changes' || isLook(program, rest)
}

const keywords = words('while until do done if then else fi break ! [[ timeout')

/** The programs of a command, with their arguments and their part of it. Ignores quotes. */
export function programsIn(command: string): { program: string; argv: string[]; part: string }[] {
  // Redirections between file descriptors or to /dev/null write no file.
  const plain = command.replace(/\d?>&\d|[&\d]?> ?\/dev\/null/g, ' ')
  return plain.split(/&&|\|\||[;|\n&]/).flatMap((part) => {
    const argv = part.trim().split(/\s+/)
    while (argv[0] !== undefined && (wrappers.has(argv[0]) || /^\w+=/.test(argv[0]))) argv.shift()
    const program = (argv.shift() ?? '').replace(/^.*\//, '').slice(0, programCharsMax)
    return program === '' || program === 'cd' ? [] : [{ program, argv, part }]
  })
}

/** Without a program nothing shows that the command changes nothing. */
function effectOfAll(effects: ReadonlySet<Effect>): Effect {
  if (effects.size === 0 || effects.has('changes')) return 'changes'
  return effects.has('waits') ? 'waits' : 'reads'
}

/**
 * A program with the part of its arguments that makes it another program: the script of an
 * interpreter, the code after `-c`, the subcommand of `git`. `python a.py` is not `python b.py`.
 */
function programWithPart(program: string, argv: string[]): string {
  const name = program.replace(/[\d.]+$/, '')
  const isInterpreter = interpreters.has(name)
  if (!isInterpreter && !programsOfParts.has(name)) return program
  const at = argv.findIndex((word) => isPart(word, isInterpreter))
  const word = argv[at]
  if (word === undefined) return program
  const named = partPrefixes.has(word) ? `${word} ${argv[at + 1] ?? ''}` : word
  const part = /^-[ce]$/.test(word) ? textHash(argv.slice(at).join(' ')) : named
  return `${program} ${part}`.slice(0, programCharsMax)
}

function isPart(word: string, isInterpreter: boolean): boolean {
  return (isInterpreter && /^-[cem]$/.test(word)) || !/^-|=/.test(word)
}

const interpreters = words(
  'python pypy node ruby perl php bash sh zsh java deno bun tsx ts-node Rscript pwsh',
)
const programsOfParts = words(
  'git npm yarn pnpm npx docker podman kubectl helm cargo go pip apt apt-get brew conda poetry uv make cmake gradle mvn dotnet systemctl ' +
    'terraform aws gcloud az gh',
)
/** Words before the part that counts: `python -m pytest`, `npm run build`. */
const partPrefixes = words('-m run exec compose')

/** Programs that tell nothing about the thing that is waited for. */
const besideSleep = words('sleep wait echo printf date true :')

const programsMax = 4
const programCharsMax = 64
const wrappers = words('command sudo env time nice nohup exec builtin')
const readPrograms = words(
  'ls cat head tail grep egrep fgrep rg ag find fd stat wc pwd which whereis type file tree du df ps env printenv date whoami id uname hostname ' +
    'echo printf diff cmp less more sort uniq cut tr jq yq awk nl od xxd hexdump md5sum sha1sum sha256sum test [ true false ping dig nslookup ' +
    '-v -V man help history basename dirname realpath readlink lsof netstat ss top free uptime',
)
/** Subcommands that only read, by the names of programs without a version. */
const readSubcommands: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    // Staging publishes nothing: the edit was the change.
    git: 'add stage status log diff show branch remote rev-parse ls-files ls-remote blame grep describe reflog shortlog',
    'npm yarn pnpm': 'ls list view info outdated why',
    'pip conda poetry uv apt apt-cache brew': 'show list freeze index check search policy info',
    'docker podman': 'ps images logs inspect info version stats top',
    'kubectl helm systemctl': 'get describe logs top explain version list status history show cat',
    'cargo go': 'tree metadata list env version doc',
    'psql mysql mariadb sqlite3 duckdb': queryWord,
  }).flatMap(([names, list]) => names.split(' ').map((name) => [name, words(list)] as const)),
)

/** `docker compose ps`, `uv pip list`. */
const beforeSubcommand = /^(?:-.*|pip|compose)$/

function programEffect(program: string, argv: string[]): Effect {
  if (program === 'wait') return 'waits'
  if (program === 'sleep') return sleepsFor(argv[0]) ? 'waits' : 'reads'
  if (program === 'find' && argv.some((word) => /^-(?:delete|exec|ok)/.test(word))) return 'changes'
  if (readPrograms.has(program)) return 'reads'
  if (program === 'sed')
    return argv.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word)) ? 'changes' : 'reads'
  if (argv.length === 1 && /^--?(?:version|help)$/.test(argv[0] ?? '')) return 'reads'
  const name = program.replace(/[\d.]+$/, '')
  if (interpreters.has(name) && argv[0] === '-m') return programEffect(argv[1] ?? '', argv.slice(2))
  const known = readSubcommands.get(program) ?? readSubcommands.get(name)
  const subcommand = isQuery(argv) ? queryWord : argv.find((word) => !beforeSubcommand.test(word))
  return subcommand !== undefined && known?.has(subcommand) === true ? 'reads' : 'changes'
}

/** Each statement only reads, and no file has another one. */
function isQuery(argv: string[]): boolean {
  const others = argv.filter(
    (word, at) => /^-(?:[ce]|-command|-execute)$/.test(argv[at - 1] ?? '') && word !== queryWord,
  )
  return (
    argv.includes(queryWord) && others.length === 0 && !argv.some((w) => /^-(?:f|-file)/.test(w))
  )
}
