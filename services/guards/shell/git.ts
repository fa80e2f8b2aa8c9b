// git: the repository that it writes to, and the options with which it runs other commands.

import type { Changes } from './change-row.ts'
import { commandLine, has, valuesOf } from './command-line.ts'
import { anything, beginsUnknown } from './field.ts'
import { nameOf } from './paths.ts'

/** They only read, and change nothing except as a side effect. */
const readers = new Set([
  ...[
    'status',
    'log',
    'show',
    'diff',
    'rev-parse',
    'ls-files',
    'ls-tree',
    'ls-remote',
    'blame',
    'grep',
    'describe',
    'cat-file',
    'shortlog',
    'rev-list',
  ],
  ...[
    'help',
    'version',
    'merge-base',
    'name-rev',
    'show-ref',
    'for-each-ref',
    'whatchanged',
    'check-ignore',
    'count-objects',
    'var',
    'diff-tree',
  ],
])

/** Settings that name a command for git to run. */
const runs =
  /^(alias\.|core\.(pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy)|pager\.|diff\..*(command|textconv)|diff\.external|difftool\.|mergetool\.|merge\..*driver|filter\.|credential|gpg\.|sequence\.editor|protocol\.|uploadpack|receivepack|include|url\.)/i

const valued = [
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--exec-path',
  '--config-env',
  '--super-prefix',
]

export function gitChanges(args: readonly string[]): Changes {
  const head = commandLine(args, { valued, stops: true })
  const folders = valuesOf(head, '-C')
  const [command, ...rest] = head.operands
  if (head.uncertain !== undefined) return { uncertain: head.uncertain }
  if (has(head, '--exec-path', '--config-env'))
    return { unknowable: '--exec-path and --config-env change which commands git runs' }
  if (valuesOf(head, '-c').some((setting) => runs.test(setting) || beginsUnknown(setting)))
    return { unknowable: 'a setting given with -c may run a command' }
  if (command === undefined) return {}

  const places = [...folders, ...valuesOf(head, '--git-dir', '--work-tree')]
  const line = commandLine(rest, {
    valued: [
      '-o',
      '--output',
      '-b',
      '--branch',
      '--depth',
      '--origin',
      '--file',
      '-f',
      '--output-directory',
      '--separate-git-dir',
      '--template',
      '--upload-pack',
      '-u',
      '-c',
      '--config',
      '-m',
      '--message',
      '-C',
    ],
  })
  if (
    has(
      line,
      '--upload-pack',
      '--receive-pack',
      '--exec',
      '-x',
      '--ext-diff',
      '--textconv',
      '--open-files-in-pager',
      '-O',
    )
  )
    return { unknowable: 'one of its options runs a command' }
  const outputs = valuesOf(line, '--output', '--output-directory', '--separate-git-dir')
  const below = (path: string) =>
    folders.length === 0 || path.startsWith('/') ? path : `${folders.join('/')}/${path}`
  if (readers.has(command)) return { writes: outputs.map(below) }

  switch (command) {
    case 'clone': {
      if (valuesOf(line, '-c', '--config').some((setting) => runs.test(setting)))
        return { unknowable: 'a setting given with -c may run a command' }
      const [url = anything, folder] = line.operands
      if (/^ext::/.test(url)) return { unknowable: 'an ext:: address runs a command' }
      return {
        uncertain: line.uncertain,
        writes: [...outputs, folder ?? nameOf(url.replace(/\/+$/, '')).replace(/\.git$/, '')].map(
          below,
        ),
      }
    }
    case 'init':
      return { uncertain: line.uncertain, writes: [...outputs, line.operands[0] ?? '.'].map(below) }
    case 'config':
      return config(line, below)
    case 'worktree':
      return {
        uncertain: line.uncertain,
        writes: [
          ...places,
          below('.'),
          ...(line.operands[0] === 'add' ? [below(line.operands[1] ?? '.')] : []),
        ],
      }
    case 'archive':
    case 'format-patch':
      return { uncertain: line.uncertain, writes: [...outputs, ...valuesOf(line, '-o')].map(below) }
    case 'bisect':
    case 'filter-branch':
    case 'difftool':
    case 'mergetool':
    case 'submodule':
      return ['run', 'foreach'].includes(line.operands[0] ?? '') ||
        command === 'filter-branch' ||
        command.endsWith('tool')
        ? { unknowable: `git ${command} runs other commands` }
        : { writes: [...places, below('.')] }
    default:
      return { writes: [...outputs.map(below), ...(places.length > 0 ? places : ['.'])] }
  }
}

function config(line: ReturnType<typeof commandLine>, below: (path: string) => string): Changes {
  const [first, second] = line.operands
  const reads =
    has(line, '--get', '--get-all', '--get-regexp', '--list', '-l') ||
    first === 'get' ||
    first === 'list' ||
    (second === undefined && first !== 'edit' && !has(line, '--unset', '--edit', '-e'))
  if (reads) return {}
  if ([first, second].some((name) => name !== undefined && runs.test(name)))
    return { unknowable: 'this setting names a command that git runs later' }
  if (has(line, '--global', '--system'))
    return { unknowable: '--global and --system change the settings of every repository' }
  return { writes: [...valuesOf(line, '-f', '--file'), '.'].map(below) }
}
