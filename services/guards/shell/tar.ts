// tar, which reads its options in three ways.

import type { Changes } from './change-row.ts'
import { commandLine, has, valuesOf } from './command-line.ts'

const long = [
  '--file',
  '--directory',
  '--files-from',
  '--exclude',
  '--exclude-from',
  '--transform',
  '--strip-components',
  '--owner',
  '--group',
  '--mode',
  '--mtime',
]
const valuedLetters = 'fCTXbgHKLMNVIF'
const runsCommand = [
  '--to-command',
  '--checkpoint-action',
  '--info-script',
  '--new-volume-script',
  '--rsh-command',
  '--use-compress-program',
  '-I',
  '-F',
]

export function tarChanges(args: readonly string[]): Changes {
  const line = commandLine(dashed(args), {
    valued: [
      ...[...valuedLetters].map((letter) => `-${letter}`),
      ...long,
      ...runsCommand.filter((name) => name.startsWith('--')),
    ],
  })
  const { uncertain } = line
  if (has(line, ...runsCommand)) return { unknowable: 'one of its options runs a command' }
  const folders = valuesOf(line, '-C', '--directory')
  if (has(line, '-x', '--extract', '--get')) {
    if (has(line, '-P', '--absolute-names'))
      return { unknowable: 'with --absolute-names the archive says where it writes' }
    return {
      uncertain,
      writes: [
        ...(folders.length > 0 ? folders : ['.']),
        ...valuesOf(line, '--one-top-level').filter((folder) => folder !== ''),
      ],
    }
  }
  const files = valuesOf(line, '-f', '--file').filter((file) => file !== '-')
  if (
    has(
      line,
      '-c',
      '--create',
      '-r',
      '--append',
      '-u',
      '--update',
      '-A',
      '--concatenate',
      '--delete',
    )
  )
    return { uncertain, writes: files, removes: has(line, '--remove-files') ? line.operands : [] }
  return { uncertain }
}

/**
 * Rewrites `tar xzf FILE` as `tar -x -z -f FILE`. In this form the values come in the order of
 * their letters.
 */
function dashed(args: readonly string[]): string[] {
  const [first, ...rest] = args
  if (first === undefined || first.startsWith('-') || !/^[A-Za-z]+$/.test(first)) return [...args]
  const given: string[] = []
  let taken = 0
  for (const letter of first) {
    given.push(`-${letter}`)
    if (valuedLetters.includes(letter)) given.push(rest[taken++] ?? '')
  }
  return [...given, ...rest.slice(taken)]
}
