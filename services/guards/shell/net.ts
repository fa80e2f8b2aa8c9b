// Which commands read from the net, and which run what they read.

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
 * By node: a script is asked for each word that it stands in. A tree is never changed, so an answer
 * stays true.
 */
const known = new WeakMap<SyntaxNode, boolean>()

/**
 * Whether anything in a part of a script names a command that reads from the net, or a socket. Too
 * often rather than too rarely.
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
