// Detects commands that read from the net, and commands that run their input.

import { type Command, forEachChild, type SyntaxNode } from 'unbash'
import { nameOf } from './paths.ts'

const netCommands = new Set([
  ...[
    'curl',
    'wget',
    'wget2',
    'fetch',
    'http',
    'https',
    'httpie',
    'xh',
    'curlie',
    'aria2c',
    'axel',
    'lynx',
    'links',
    'w3m',
    'elinks',
  ],
  ...[
    'nc',
    'ncat',
    'netcat',
    'socat',
    'telnet',
    'ftp',
    'lftp',
    'tftp',
    'sftp',
    'scp',
    'ssh',
    'rsync',
    'openssl',
    'websocat',
  ],
  ...[
    'aws',
    'gsutil',
    'gcloud',
    'az',
    's3cmd',
    'rclone',
    'gh',
    'glab',
    'ipfs',
    'dig',
    'drill',
    'nslookup',
    'host',
    'youtube-dl',
    'yt-dlp',
  ],
])

const shells = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'mksh',
  'ash',
  'rbash',
  'fish',
  'csh',
  'tcsh',
  'pwsh',
  'yash',
  'nu',
])
const interpreter =
  /^(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|Rscript|osascript|julia|guile|ghci|irb|jshell|groovy|ts-node|tsx|ipython|expect|sqlite3|psql|mysql)[0-9.]*$/

export function isNetCommand(name: string): boolean {
  return netCommands.has(name)
}

export function isShell(name: string): boolean {
  return shells.has(name)
}

export function isInterpreter(name: string): boolean {
  return interpreter.test(name)
}

/**
 * Cache by node: each word of a script repeats the question. A tree never changes, so an answer
 * stays true.
 */
const known = new WeakMap<SyntaxNode, boolean>()

/**
 * Whether a part of a script contains a command that reads from the net, or a socket. In doubt yes.
 */
export function readsNet(node: SyntaxNode): boolean {
  const before = known.get(node)
  if (before !== undefined) return before
  let found =
    node.type === 'Command'
      ? namesNet(node)
      : node.type === 'Redirect'
        ? /^\/dev\/(tcp|udp)\//.test(node.target?.value ?? '')
        : false
  forEachChild(node, (child) => {
    if (!found) found = readsNet(child)
  })
  known.set(node, found)
  return found
}

/** Also as an argument: `sudo curl`, `xargs curl`. */
function namesNet(command: Command): boolean {
  return [command.name, ...command.args].some(
    (word) => word?.type === 'Word' && netCommands.has(nameOf(word.value)),
  )
}
