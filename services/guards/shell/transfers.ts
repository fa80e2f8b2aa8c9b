// Commands that fetch and copy files over the net: their targets, and the files that come from the
// net.

import { files, row } from './change-row.ts'
import { has, valuesOf } from './command-line.ts'
import { nameOf } from './paths.ts'

const curlShort = 'AbcCdDeEFhHKmoPQrtTuUwxXyYzZ'
const curlWrites = [
  '-o',
  '--output',
  '-D',
  '--dump-header',
  '-c',
  '--cookie-jar',
  '--trace',
  '--trace-ascii',
  '--stderr',
  '--etag-save',
  '--hsts',
  '--alt-svc',
  '--libcurl',
]
const curlValued = [
  ...[...curlShort].map((letter) => `-${letter}`),
  ...curlWrites,
  ...[
    '--output-dir',
    '--url',
    '--data',
    '--data-raw',
    '--data-binary',
    '--data-urlencode',
    '--json',
    '--header',
    '--request',
    '--user',
    '--user-agent',
  ],
  ...[
    '--max-time',
    '--connect-timeout',
    '--retry',
    '--retry-delay',
    '--retry-max-time',
    '--form',
    '--config',
    '--cacert',
    '--cert',
    '--key',
    '--proxy',
  ],
  ...[
    '--cookie',
    '--referer',
    '--range',
    '--write-out',
    '--resolve',
    '--upload-file',
    '--limit-rate',
    '--max-redirs',
    '--variable',
    '--url-query',
  ],
]
export const curl = row({ valued: curlValued }, (line) => {
  if (has(line, '-K', '--config'))
    return { unknowable: 'the file of --config may say where it writes' }
  const folder = valuesOf(line, '--output-dir').at(-1)
  const named = files(valuesOf(line, '-o', '--output'))
  const own = has(line, '-O', '--remote-name', '--remote-name-all', '-J', '--remote-header-name')
  const taken = own ? [...line.operands, ...valuesOf(line, '--url')].map(lastOfUrl) : []
  const fetched = [...named, ...taken].map((file) => below(folder, file))
  return {
    writes: [
      ...fetched,
      ...(own ? [folder ?? '.'] : []),
      ...files(valuesOf(line, ...curlWrites.slice(2))),
    ],
    fetched,
  }
})

const wgetValued = [
  ...[
    '-O',
    '--output-document',
    '-o',
    '--output-file',
    '-a',
    '--append-output',
    '-P',
    '--directory-prefix',
    '-e',
    '--execute',
    '-i',
    '--input-file',
  ],
  ...[
    '-U',
    '--user-agent',
    '-Q',
    '-t',
    '--tries',
    '-T',
    '--timeout',
    '-w',
    '--wait',
    '-l',
    '--level',
    '-A',
    '-R',
    '-D',
    '-I',
    '-X',
    '--header',
    '--config',
  ],
  ...[
    '--post-data',
    '--post-file',
    '--user',
    '--password',
    '--save-cookies',
    '--load-cookies',
    '--referer',
    '--limit-rate',
    '--warc-file',
    '--rejected-log',
  ],
]
export const wget = row({ valued: wgetValued }, (line) => {
  if (
    has(line, '--config') ||
    valuesOf(line, '-e', '--execute').some((setting) => !/^robots ?= ?(on|off)$/.test(setting))
  )
    return { unknowable: '--config and --execute may say where it writes' }
  const logs = files(
    valuesOf(
      line,
      '-o',
      '--output-file',
      '-a',
      '--append-output',
      '--save-cookies',
      '--warc-file',
      '--rejected-log',
    ),
  )
  const named = valuesOf(line, '-O', '--output-document')
  if (has(line, '--spider')) return { writes: logs }
  const folder = valuesOf(line, '-P', '--directory-prefix').at(-1)
  const fetched =
    named.length > 0 ? files(named) : line.operands.map((url) => below(folder, lastOfUrl(url)))
  return { writes: [...logs, ...(named.length > 0 ? files(named) : [folder ?? '.'])], fetched }
})

function lastOfUrl(url: string): string {
  const path = url.replace(/^[a-z]+:\/\//i, '').split(/[?#]/)[0] ?? ''
  return path.includes('/') ? nameOf(path) || 'index.html' : 'index.html'
}

export function below(folder: string | undefined, file: string): string {
  return folder === undefined || file.startsWith('/') ? file : `${folder}/${file}`
}

const rsyncValued = [
  ...[
    '-e',
    '--rsh',
    '-f',
    '--filter',
    '-T',
    '--temp-dir',
    '-B',
    '-M',
    '--exclude',
    '--exclude-from',
    '--include',
    '--include-from',
    '--files-from',
  ],
  ...[
    '--log-file',
    '--backup-dir',
    '--partial-dir',
    '--write-batch',
    '--only-write-batch',
    '--chmod',
    '--chown',
    '--bwlimit',
    '--timeout',
    '--port',
    '--rsync-path',
  ],
]
export const rsync = row({ valued: rsyncValued }, (line) => ({
  writes: [
    ...valuesOf(
      line,
      '-T',
      '--temp-dir',
      '--log-file',
      '--backup-dir',
      '--partial-dir',
      '--write-batch',
      '--only-write-batch',
    ),
    ...local(line.operands.slice(-1)),
  ],
  removes: has(line, '--remove-source-files') ? local(line.operands.slice(0, -1)) : [],
}))
export const scp = row(
  { valued: ['-P', '-i', '-o', '-F', '-l', '-c', '-S', '-J', '-D', '-X'] },
  ({ operands }) => ({
    writes: local(operands.slice(-1)),
    fetched: local(operands.slice(-1)),
  }),
)

/** `host:path` is on another machine. */
function local(paths: string[]): string[] {
  return paths.filter((path) => !/^[^/]*:/.test(path))
}
