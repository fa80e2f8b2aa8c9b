// The shell that starts the program of a sandbox: it joins a cgroup and hands over the filter of system
// calls, before it becomes the program.
// After any failure the program does not start.
// No file holds the filter: a process that is killed leaves none, and no other user
// can change it.

import { seccompFilter } from './seccomp.ts'

/** One digit: the shell reads no more. Above those of tools and of status lines. */
export const filterDescriptor = 9

type Argv = [string, ...string[]]

/**
 * The program reads the filter from `filterDescriptor`. `group`: the file of a cgroup that the process
 * joins. With neither it is `argv` itself.
 */
export function launched(argv: Argv, group: string | undefined): Argv {
  const filter = seccompFilter()
  if (group === undefined && filter === undefined) return argv
  const lines = [
    'set -e',
    ...(group === undefined ? [] : ['echo $$ > "$0"']),
    ...(filter === undefined ? [] : [...filterLines, 'shift']),
    'exec "$@"',
  ]
  const text = filter === undefined ? [] : [octalOf(filter)]
  return ['/bin/sh', '-c', lines.join('\n'), group ?? 'sandbox', ...text, ...argv]
}

/**
 * A here-document is a pipe, or a file without a name. It cannot hold the filter, because some bytes
 * are 0, so the shell appends them under its own descriptor. Its one empty line is read first: bash
 * makes no pipe of an empty document.
 */
const filterLines = [
  `exec ${filterDescriptor}<<END\n\nEND`,
  `read -r _ <&${filterDescriptor}`,
  `printf "$1" >> /proc/self/fd/${filterDescriptor}`,
]

function octalOf(bytes: Buffer): string {
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
