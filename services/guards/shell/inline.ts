// Programs on the command line, of interpreters and stream editors. A program passes only if it has
// a form that this file knows: by its modules and names (Python, Node.js), or wholly (sed, perl,
// SQL). Other languages pass only as files.

import { Denial, hidden, shown } from './denial.ts'
import { isPlain } from './field.ts'
import { checkProjectFile, type Place } from './place.ts'

/** By the beginning of the interpreter's name. */
const languages: [names: RegExp, accepts: (code: string) => boolean][] = [
  [/^(python|pypy)/, isPlainPython],
  [/^(node|tsx|ts-node)/, isPlainNode],
  [/^perl/, isPlainPerl],
  [/^(sqlite3|psql|mysql|mariadb)/, isPlainSql],
  [/^g?sed/, isPlainSed],
  [/^[gmn]?awk/, isPlainAwk],
]

/** Throws a Denial if the program is not plainly understood, or has code from elsewhere. */
export function checkCode(name: string, code: string, place: Place): void {
  if (!isPlain(code) || code.startsWith('-')) throw hidden(name, code)
  for (const [, , path = ''] of code.matchAll(/\brequire\((['"])(\.[^'"]*)\1/g))
    checkProjectFile(path, name, place)
  const [, accepts] = languages.find(([names]) => names.test(name)) ?? []
  if (accepts?.(code)) return
  throw new Denial(
    'not-plain',
    `a program for ${shown(name)} is not plainly understood: "${shown(code)}"`,
    'Use plain shell commands for that, or write the program to a file and run the file.',
  )
}

const escapes = /\\x[0-9a-f]{2}|\\u[0-9a-f{]|\\[0-7]{3}/i

const modules =
  '(json|sys|os|re|math|csv|time|datetime|collections|itertools|statistics|random|string|textwrap|hashlib|base64|yaml|tomllib|toml|platform|decimal|fractions|uuid)'
const imports = new RegExp(`\\bimport\\s+${modules}(\\s*,\\s*${modules})*(?=\\s*(;|\\n|$))`, 'g')
/** Only the version of any other module. */
const version = /^import [\w.]+; *print\([\w.]+\.__version__\)$/
const names = /\bfrom (datetime|collections|itertools|math|decimal) import\b/g
const ofPython = [
  /\b(import|from|eval|exec|compile|[gs]etattr|delattr|globals|locals|vars|breakpoint|help)\b/,
  /\bos\b(?!\s*\.\s*(path|environ|getcwd|listdir|sep|cpu_count|name)\b)/,
  /\bsys\b(?!\s*\.\s*(argv|stdin|stdout|stderr|version|version_info|exit|platform|maxsize|executable|getsizeof)\b)/,
  /\byaml\b(?!['"]|\s*\.\s*(safe_load|safe_load_all|dump|safe_dump)\b)/,
  /\.\s*(io|codecs|builtins|subprocess|types|enum|copyreg|warnings|inspect|importlib|functools|shutil|tempfile)\b/,
  /(?<!\w)_(?!_(version|name|file)__)\w+/,
  // Python opens a file for reading unless a mode is given.
  /open\b(?!\(\s*(['"][^'"]*['"]|[\w.]+(\[[^\]]*\])?)\s*(,\s*['"]r[bt]?['"]\s*)?(,\s*encoding=['"][\w-]+['"]\s*)?\))/,
  escapes,
]

function isPlainPython(code: string): boolean {
  const rest = code
    .replace(/\bprint\(sys\.path\)/g, '')
    .replace(imports, '')
    .replace(names, '')
  // Python reads a name in other letters as the plain one.
  const isNormal = code.normalize('NFKC') === code
  return version.test(code) || (isNormal && !ofPython.some((form) => form.test(rest)))
}

const ofNode = [
  /\b(eval|Function|constructor|import|global|globalThis|Reflect|module|Module|fetch|XMLHttpRequest|WebSocket|Worker|Bun|Deno|Proxy|with|__\w+)\b/,
  /\bprocess\b(?!\s*\.\s*(version|versions|arch|platform|argv|env|cwd|stdin|stdout|exit|memoryUsage|uptime)\b)/,
  /\brequire\b(?!\((['"])(\.[^'"]*|(node:)?(path|os|util|url))\1\))/,
  /\bfs\b(?!\s*\.\s*(readFileSync|existsSync|readdirSync|statSync)\b)/,
  /\bObject\b(?!\s*\.\s*(keys|values|entries|fromEntries|assign)\b)/,
  // A name that is made at run time. A literal is none, and neither is a list of them.
  /\[(?!(\s*(-?[\d.]+|'[\w-]*'|"[\w-]*")\s*,?)*\])/,
  escapes,
]

function isPlainNode(code: string): boolean {
  const rest = code.replace(/\b(const fs = )?require\((['"])(node:)?fs\2\)/g, (_, named) =>
    named ? '' : 'fs',
  )
  return !ofNode.some((form) => form.test(rest))
}

/** Substitutions, and lines that are printed. */
const perl =
  /^(?:\s*(?:s([/|#,!])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[gimsx]*|print (?:if|unless) \/(?:\\.|[^/\\])*\/i?)(?:;|\s*$))+$/

const perlDenied = /@|\\|\$(?![\d&)|/#,!\s]|$)|\$.\d*[-[{(]|\(\s*[?*]+\s*\{/

function isPlainPerl(code: string): boolean {
  // Perl runs the code in a subscript, also within a pattern.
  const rest = code.replace(/(?<!\$)\\[^$]/g, '')
  return perl.test(code) && !perlDenied.test(rest)
}

const sql =
  /^\s*(select|explain(?![\s\S]*\banaly)|show|\.tables|\.schema|\\(d|dt|l)\b)[^\\`;]*;?\s*$/i
const deniedSql =
  /file|extension|program|\bpg_|\blo_|\bedit\b|\binto\b|\battach\b|dblink|_to_xml|crosstab|\n\s*\./i

function isPlainSql(code: string): boolean {
  return sql.test(code) && !deniedSql.test(code)
}

const awkDenied =
  /\bsystem\s*\(|\|\s*&|\|\s*"|"\s*\|[^|]|\bgetline\b|@\s*(load|include|\w+\s*\()|\bextension\s*\(/

function isPlainAwk(program: string): boolean {
  // `>` and `|` after a print are its output. Elsewhere they compare, or are part of a pattern. A text or
  // pattern that may hold the end of a part stays, and so does a division: then the program is one part.
  const rest = program.replace(/"[^"\\/;}>|\n]*"|(?<=(^|[(,~!&|{};\n])\s*)\/[^"\\/;}>|\n]*\//g, ' ')
  const outputs = (/["/]/.test(rest) ? [rest] : rest.split(/[;}]/)).map((part) =>
    part.slice((part.search(/\bprint/) + 1 || part.length + 1) - 1),
  )
  return !awkDenied.test(program) && !outputs.some((part) => />|[^|]\|[^|]/.test(part))
}

const sedAddress = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/I?)`
const sedCommand = new RegExp(
  String.raw`[\s;]*(?:${sedAddress}(?:\s*,\s*(?:[+~]?\d+|${sedAddress}))?)?\s*!?\s*` +
    String.raw`(?:([sy])([^\w\s\\])(?:\\[^]|(?!\2)[^\\])*\2(?:\\[^]|(?!\2)[^\\])*\2[gpiIm0-9]*|` +
    String.raw`[aic]\\?[^\n]*(?:\\\n[^\n]*)*|[bt]\s*\w*|:\s*\w+|[qQ]\s*\d*|[dpDPnNgGhHxlz=]|[{}])` +
    String.raw`\s*(?=[;\n}]|$|(?<=\{))`,
  'y',
)

function isPlainSed(script: string): boolean {
  for (let at = 0; at < script.length; at = sedCommand.lastIndex) {
    if (/^[\s;]*$/.test(script.slice(at, at + 64)) && at + 64 >= script.length) return true
    sedCommand.lastIndex = at
    if (!sedCommand.test(script)) return false
  }
  return true
}
