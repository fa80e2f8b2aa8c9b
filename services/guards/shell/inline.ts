// Programs on the command line, of interpreters and stream editors. They pass only if they name
// nothing that starts a process, changes a file, reaches the net or hides its meaning.

import { commandLine, valuesOf } from './command-line.ts'
import { isPlain, list } from './field.ts'
import { checkWrite, type Place } from './place.ts'
import { Refusal, shown } from './refusal.ts'

/** Options with a value, and among them those whose value is a program. */
type Language = [names: RegExp, valued: string, code: string]

const languages: Language[] = [
  [/^(python|pypy)[0-9.]*$/, '-c -m -W -X', '-c'],
  [
    /^(node|nodejs|deno|bun|tsx|ts-node)$/,
    '-e --eval -p --print -r --require --import --loader --conditions',
    '-e --eval -p --print',
  ],
  [/^perl[0-9.]*$/, '-e -E -i* -I* -M* -m* -x* -C* -F* -0* -l*', '-e -E -M -m'],
  [/^ruby[0-9.]*$/, '-e -i* -I* -r* -C* -F* -0* -x*', '-e'],
  [/^php[0-9.]*$/, '-r -d -f -B -R -E -F', '-r -B -R -E'],
]
const databases = /^(sqlite3|psql|mysql|mariadb)$/
const others =
  /^(lua|luajit|tclsh|wish|Rscript|osascript|julia|guile|ghci|irb|jshell|groovy|ipython|elixir|scala|swift|erl|[gmn]?awk|dc|gnuplot|octave)[0-9.]*$/
const modules = /^(code|pdb|bdb|asyncio|idlelib|timeit|trace|runpy|cProfile|profile|IPython)(\.|$)/

export function isInterpreter(name: string): boolean {
  return others.test(name) || databases.test(name) || languages.some(([names]) => names.test(name))
}

export type Invocation = { code: string[]; file: string | undefined; isQuery: boolean }

/** The programs and the script file among an interpreter's arguments. */
export function invocation(name: string, args: readonly string[]): Invocation {
  if (/awk$/.test(name)) return { code: [], file: '', isQuery: true } // checkStream
  if (databases.test(name))
    return { code: [...args], file: args.length > 1 ? '' : undefined, isQuery: false }
  const language = languages.find(([names]) => names.test(name))
  if (language === undefined) {
    const option = args.find((arg) => /^-(\w*[eEc]|-eval|-execute|-command)/.test(arg))
    if (option !== undefined) throw hidden(name, option)
    const file = args.find((arg) => !arg.startsWith('-') || arg === '-')
    return { code: [], file, isQuery: false }
  }
  const [, valued, code] = language
  const parted = args.flatMap((arg) => (arg === '-pe' && /^(node|bun)/.test(name) ? ['-e'] : [arg]))
  const line = commandLine(parted, valued, true)
  const module = /^py/.test(name) ? valuesOf(line, '-m').at(0) : undefined
  if (module !== undefined && modules.test(module)) throw hidden(name, `-m ${module}`)
  const [file] = line.operands
  if (name === 'deno' && (file === 'eval' || line.operands.some((one) => /^https?:/.test(one))))
    throw hidden(name, file ?? '')
  const isQuery =
    module !== undefined ||
    line.options.some((one) => /^(-[vVhli]|--(version|help|test|check|watch))$/.test(one.name))
  return { code: valuesOf(line, code), file, isQuery }
}

/** Names that a short program may not have, in any of the languages. */
const denied = new RegExp(
  `\\b(${list(`system popen p?open2 spawn\\w* exec\\w* fork eval\\w* compile subprocess pty ctypes
  __import__ __builtins?__ __class__ __subclasses__ __globals__ __dict__ builtins importlib runpy
  getattr setattr globals locals vars breakpoint codecs pickle marshal multiprocessing asyncio shutil
  socket socketserver ftplib smtplib telnetlib webbrowser tempfile fileinput signal timeit posix
  requests httpx aiohttp urlopen urlretrieve http\\.client http\\.server modules
  write_text write_bytes unlink rmdir rmtree mkdir makedirs rename renames replace_file remove
  removedirs symlink\\w* link_to hardlink_to touch chmod chown truncate
  child_process worker_threads vm Function constructor binding mainModule dlopen createWriteStream
  \\w*[wW]riteFile\\w* appendFile\\w* unlink\\w* rm rmSync cpSync copyFile\\w* renameSync mkdirSync
  fetch XMLHttpRequest WebSocket net http https dgram tls createServer connect kill
  Bun Deno qx syscall require_once include include_once instance_eval send __send__
  IO File FileUtils Kernel Process Open3 Socket Net shell_exec passthru proc_open pcntl\\w*
  file_put_contents fopen fwrite fsockopen curl_\\w+ assert create_function call_user_func\\w*
  globalThis Reflect methodcaller method public_send define_method const_get readpipe sysopen
  (?!Stream|Null)\\w+Handler fileConfig dictConfig shelve dbm extract extractall writestr
  syswrite dump_file save savefig to_csv to_pickle`).join('|')})\\b`,
)
const deniedForms = [
  /%x\W/,
  /\bos\s*\.\s*(?!path\b|environ\b|getcwd\b|listdir\b|sep\b|cpu_count\b|name\b)/,
  /\bfrom\s+os\s+import|\bos\s+as\b|\battrgetter\b|\bimport\s+\*|\bprocess\s*\[|\bprocess\s*\.\s*(?!version|versions|arch|platform|argv|env\b|cwd\b|stdout|exit\b|memoryUsage|uptime)/,
  /\b(open|load)\s+[\w'"$*<>|]|\bdo\s*['"$(]|\bimport\s*\(/,
  /\brequire\b(?!\s*\(?\s*['"](\.{1,2}\/[^'"]*|(node:)?(fs|path|os|util|url|crypto|json|set|date|time|csv|yaml|digest))['"])/,
  /\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\[0-7]{3}|\bfromCharCode\b|\batob\b|\bchr\s*\(|\bunpack\b/i,
]
/** Python opens a file for reading unless a mode is given, also by a class such as ZipFile. Elsewhere `open` may start a command. */
const openForReading =
  /\b(?:open|\w*File(?:IO)?)\s*\((?!\s*(['"][^'"]*['"]|[\w.]+(\[[^\]]*\])?)\s*(,\s*['"]r[bt]?['"]\s*)?(,\s*encoding=['"][\w-]+['"]\s*)?\))/
/** The same under another name, the mode of a path's own `open`, and a log in a file. */
const openedOtherwise = [
  /\b(?:open|\w*File(?:IO)?)\s+as\b/,
  /[=(,[]\s*(?:\w+\s*\.\s*)*(?:open|\w*File(?:IO)?)\b(?!\s*[\w('"])/,
  /\.\s*open\s*\(\s*['"][rbtU]*[wax+][rwaxbtU+]*['"]|\)\s*\.\s*open\s*\(\s*[^'")\s]/,
  /\bbasicConfig\s*\((?!\s*(level\s*=\s*[\w.]+\s*)?\))/,
]
const openOrBackticks = /\bopen\b|`/
/** Clients of databases: commands of the client, and functions that reach files or programs. */
const deniedSql =
  /(^|\n)[ \t]*\.(?!(tables|schema|mode|headers?|dump|indexes|databases|width|timeout|quit|exit|help|show)\b)\w|\\[!ogwei]|\\copy|\bprogram\b|outfile|dumpfile|writefile|readfile|load_extension|\bsystem\b|\bedit\s*\(|\battach\b|vacuum\s+into|pg_(read|write|execute)|lo_export|^-cmd$/i

/** `written`: a program of the interpreter. Throws a Refusal if it is not plainly understood. */
export function checkCode(name: string, written: string, place: Place): void {
  if (!isPlain(written)) throw hidden(name, written)
  const code = /^py/.test(name) ? withoutEdits(name, written, place) : written
  if (databases.test(name)) {
    if (deniedSql.test(code)) throw notUnderstood(name, deniedSql.exec(code)?.[0] ?? '')
    return
  }
  const isPython = /^py/.test(name)
  const forms = [
    ...(isPython ? [openForReading, ...openedOtherwise] : []),
    ...(/^(perl|ruby|php)/.test(name) ? [openOrBackticks] : []),
    ...deniedForms,
  ]
  const found = denied.exec(code) ?? forms.map((form) => form.exec(code)).find(Boolean)
  if (found) throw notUnderstood(name, found[0])
  if (!languages.some(([names]) => names.test(name))) throw notUnderstood(name, code)
}

/** Judges `X.write_text(…)` where X is only ever `Path('…')`, and takes it for a harmless call. */
function withoutEdits(name: string, code: string, place: Place): string {
  const isPath = (rest: string) => /^\bPath(?=\(['"])/.test(rest) || /^Path\n/.test(rest)
  const paths = [...code.matchAll(/\bPath\b/g)].map(({ index }) => code.slice(index))
  if (!/^from pathlib import Path$/m.test(code) || !paths.every(isPath)) return code
  return code.replace(/(?<![.\w])([a-z]\w*)\.write_text\(/g, (call, variable: string) => {
    const set = new RegExp(`^${variable} = Path\\((['"])([\\w./-]+)\\1\\)$`, 'gm')
    const [[, , path] = [], ...more] = code.matchAll(set)
    const other = `\\b${variable}\\b(?!\\.(read_text|write_text|exists|name)\\b)`
    const uses = code.replace(set, '').match(other)
    if (path === undefined || more.length > 0 || uses !== null) return call
    checkWrite(path, name, place)
    return `${variable}.read_text(`
  })
}

// ── awk and sed ──

const awkDenied =
  /\bsystem\s*\(|\|\s*&|\|\s*"|"\s*\|[^|]|\bgetline\b|@\s*(load|include|\w+\s*\()|\bextension\s*\(/

/** Refuses a program of awk or sed that runs commands or writes files. */
export function checkStream(name: string, args: readonly string[]): void {
  const isAwk = name.endsWith('awk')
  const valued = isAwk
    ? '-f --file -v --assign -F --field-separator -e --source -E --exec -i --include -l --load'
    : '-e --expression -f --file -l -i* -I*'
  const line = commandLine(args, valued, isAwk)
  const loaded = valuesOf(line, '-f --file -E --exec')
  for (const file of loaded)
    if (/^(-|\/dev\/(stdin|fd\/\d+)|\/proc\/.*)$/.test(file) || !isPlain(file))
      throw hidden(name, file)
  // Other options load a library, or write the program and its variables to a file.
  const odd =
    isAwk && line.options.find((one) => !/^(-[fvFe]|--(file|assign|source))$/.test(one.name))
  if (odd || (isAwk && line.uncertain !== undefined))
    throw hidden(name, odd ? odd.name : (line.uncertain ?? ''))
  const given = valuesOf(line, isAwk ? '-e --source' : '-e --expression')
  const code = given.length > 0 || loaded.length > 0 ? given : line.operands.slice(0, 1)
  for (const one of code) {
    if (!isPlain(one)) throw hidden(name, one)
    const found = isAwk ? awkRest(one) : sedRest(one)
    if (found) throw notUnderstood(name, found)
  }
}

/** The first part of an awk program that reaches a file or a command. */
function awkRest(program: string): string | undefined {
  const found = awkDenied.exec(program)?.[0]
  // `>` and `|` behind a print are its output. Elsewhere they compare, or are part of a pattern.
  const outputs = program
    .split(/[;}\n]/)
    .map((part) => part.slice((part.search(/\bprint/) + 1 || part.length + 1) - 1))
  return found ?? outputs.find((part) => />|[^|]\|[^|]/.test(part))
}

const sedAddress = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/I?|\\([|#,])(?:(?!\1).)*\1)`
const sedCommand = new RegExp(
  String.raw`[\s;]*(?:${sedAddress}(?:\s*,\s*(?:[+~]?\d+|\$|/(?:\\.|[^/\\\n])*/I?))?)?\s*!?\s*` +
    String.raw`(?:s([^\w\s\\])(?:\\[^]|(?!\2)[^\\])*\2(?:\\[^]|(?!\2)[^\\])*\2[gpiIm0-9]*|` +
    String.raw`y([^\w\s\\])(?:\\.|(?!\3)[^\\])*\3(?:\\.|(?!\3)[^\\])*\3|` +
    String.raw`[aic]\\?[^\n]*(?:\\\n[^\n]*)*|[bt]\s*\w*|:\s*\w+|[qQ]\s*\d*|[dpDPnNgGhHxlz=]|[{}])` +
    String.raw`\s*(?=[;\n}#]|$|(?<=\{))(?:#[^\n]*)?`,
  'y',
)

/** The first part of a sed script that is not plain. Undefined: all of it is. */
function sedRest(script: string): string | undefined {
  for (let at = 0; at < script.length; ) {
    if (/^[\s;]*$/.test(script.slice(at, at + 64)) && at + 64 >= script.length) return undefined
    sedCommand.lastIndex = at
    if (!sedCommand.test(script) || sedCommand.lastIndex === at) return script.slice(at, at + 40)
    at = sedCommand.lastIndex
  }
  return undefined
}

function hidden(name: string, part: string): Refusal {
  return new Refusal(
    'unseen-script',
    `${name} runs a program of which "${shown(part)}" is not visible here`,
    'Write the program out in the command, or in a file that you run by its name. Pass values as arguments.',
  )
}

function notUnderstood(name: string, part: string): Refusal {
  return new Refusal(
    'not-plain',
    `"${shown(part)}" in a program for ${name} may start commands, change files or reach the net`,
    'Use plain shell commands for that, or write the program to a file and run the file.',
  )
}
