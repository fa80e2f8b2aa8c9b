// Commands that run another command given in their arguments. Finds that command.

import { type CommandLine, commandLine, has, valuesOf } from './command-line.ts'
import { anything, isUnknown } from './field.ts'
import { Refusal, shown } from './refusal.ts'

export type Wrapped = {
  /** The inner command. Empty: there is none. */
  fields: string[]
  /** `NAME=VALUE` for the inner command. */
  settings?: string[]
  /** Files that the outer command writes. */
  writes?: string[]
  /** The folder that it changes to first. */
  folder?: string
  /** It runs as another user, so `~` and the start folder may differ. */
  asOther?: 'home' | 'home and folder'
}

/** Undefined: the command runs no other command, as far as is known. */
export function wrapped(name: string, args: readonly string[]): Wrapped | undefined {
  return Object.hasOwn(wrappers, name) ? wrappers[name]?.(args) : undefined
}

/** They run another command in a way that is not visible here. */
export const opaque = new Set([
  ...[
    'su',
    'runuser',
    'pkexec',
    'chroot',
    'unshare',
    'nsenter',
    'parallel',
    'script',
    'expect',
    'unbuffer',
    'firejail',
    'bwrap',
    'fakeroot',
    'systemd-run',
  ],
  ...[
    'setpriv',
    'capsh',
    'proot',
    'torsocks',
    'proxychains',
    'proxychains4',
    'entr',
    'watch',
    'watchexec',
    'chrt',
    'taskset',
    'numactl',
    'prlimit',
    'runcon',
  ],
  ...[
    'strace',
    'ltrace',
    'gdb',
    'lldb',
    'valgrind',
    'perf',
    'flock',
    'at',
    'batch',
    'xvfb-run',
    'dbus-run-session',
    'rlwrap',
    'eatmydata',
    'start-stop-daemon',
  ],
  ...[
    'daemonize',
    'tmux',
    'screen',
    'ld.so',
    'ld-linux-x86-64.so.2',
    'faketime',
    'sg',
    'newgrp',
    'machinectl',
    'run-parts',
    'envsubst-exec',
    'bpftrace',
  ],
])

type Wrapper = (args: readonly string[]) => Wrapped
type Shape = { flags: string[]; valued?: string[]; attached?: string[]; positional?: number }

/** Reads the options up to the inner command. An unknown option may hide its beginning. */
function reading(
  name: string,
  { flags, valued = [], attached = [] }: Shape,
  args: readonly string[],
): CommandLine {
  const line = commandLine(args, { valued, attached, stops: true })
  const unknown = line.options.find(
    ({ name: option }) => ![...flags, ...valued, ...attached].includes(option),
  )
  if (unknown === undefined && line.uncertain === undefined) return line
  throw new Refusal(
    'unknowable',
    `what ${name} runs cannot be told with "${shown(unknown?.name ?? line.uncertain ?? '')}"`,
    `Run the command without ${name}, or with its plain options.`,
  )
}

function plain(
  name: string,
  shape: Shape,
  more: (line: CommandLine) => Partial<Wrapped> = () => ({}),
): Wrapper {
  return (args) => {
    const line = reading(name, shape, args)
    return { fields: line.operands.slice(shape.positional ?? 0), ...more(line) }
  }
}

/** `NAME=VALUE` before the command. */
function afterSettings(all: string[]): { settings: string[]; fields: string[] } {
  const first = all.findIndex((field) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(field))
  return first < 0
    ? { settings: all, fields: [] }
    : { settings: all.slice(0, first), fields: all.slice(first) }
}

const sudoShape: Shape = {
  flags: [
    '-A',
    '-b',
    '-E',
    '-H',
    '-n',
    '-P',
    '-S',
    '-k',
    '-K',
    '-B',
    '-i',
    '-s',
    '-l',
    '-v',
    '-V',
    '--preserve-env',
    '--login',
    '--shell',
    '--non-interactive',
    '--set-home',
    '--stdin',
  ],
  valued: [
    '-u',
    '-g',
    '-p',
    '-C',
    '-D',
    '-h',
    '-r',
    '-t',
    '-T',
    '-U',
    '-R',
    '--user',
    '--group',
    '--prompt',
    '--chdir',
    '--chroot',
    '--host',
  ],
}

const sudo: Wrapper = (args) => {
  const line = reading('sudo', sudoShape, args)
  if (has(line, '-R', '--chroot'))
    throw new Refusal(
      'unknowable',
      'sudo --chroot changes what every path means',
      'Run it without --chroot.',
    )
  const isLogin = has(line, '-i', '--login')
  const asShell = isLogin || has(line, '-s', '--shell')
  if (asShell && line.operands.some((field) => /[^A-Za-z0-9_./=:@%+,-]/.test(field)))
    throw new Refusal(
      'unknowable',
      'sudo runs a shell here, which reads the words once more',
      'Run the command with sudo alone.',
    )
  const folder = valuesOf(line, '-D', '--chdir').at(-1)
  return {
    ...afterSettings(line.operands),
    asOther: isLogin ? 'home and folder' : 'home',
    ...(folder === undefined ? {} : { folder }),
  }
}

const xargsShape: Shape = {
  flags: [
    '-0',
    '-r',
    '-t',
    '-p',
    '-x',
    '-o',
    '--null',
    '--no-run-if-empty',
    '--verbose',
    '--interactive',
    '--exit',
    '--open-tty',
  ],
  valued: [
    '-I',
    '-n',
    '-P',
    '-L',
    '-s',
    '-d',
    '-E',
    '-a',
    '-J',
    '-R',
    '-S',
    '--max-args',
    '--max-procs',
    '--max-lines',
    '--delimiter',
    '--arg-file',
    '--replace',
    '--max-chars',
    '--process-slot-var',
  ],
  attached: ['-i', '-l', '-e'],
}

/** The words that xargs reads are unknown, but their place is known. */
const xargs: Wrapper = (args) => {
  const line = reading('xargs', xargsShape, args)
  const inner = line.operands.length === 0 ? ['echo'] : line.operands
  const mark = valuesOf(line, '-I', '-J', '--replace', '-i').at(-1)
  if (mark === undefined) return { fields: [...inner, anything] }
  const sign = mark === '' ? '{}' : mark
  if (isUnknown(sign))
    throw new Refusal(
      'unknowable',
      'where xargs puts what it reads is not known',
      'Write the sign behind -I out.',
    )
  return { fields: inner.map((field) => field.replaceAll(sign, anything)) }
}

const wrappers: Record<string, Wrapper> = {
  sudo,
  doas: plain('doas', { flags: ['-n', '-s', '-L'], valued: ['-u', '-C', '-a'] }, () => ({
    asOther: 'home',
  })),
  xargs,
  env: (args) => {
    const line = reading(
      'env',
      {
        flags: ['-i', '-', '-0', '-v', '--ignore-environment', '--null', '--debug'],
        valued: ['-u', '--unset', '-C', '--chdir'],
      },
      args[0] === '-' ? args.slice(1) : args,
    )
    const folder = valuesOf(line, '-C', '--chdir').at(-1)
    return {
      ...afterSettings(line.operands),
      ...(line.operands.some((field) => field.startsWith('HOME=')) ? { asOther: 'home' } : {}),
      ...(folder === undefined ? {} : { folder }),
    }
  },
  nohup: plain('nohup', { flags: [] }),
  setsid: plain('setsid', { flags: ['-c', '-f', '-w', '--ctty', '--fork', '--wait'] }),
  stdbuf: plain('stdbuf', {
    flags: [],
    valued: ['-i', '-o', '-e', '--input', '--output', '--error'],
  }),
  nice: plain('nice', {
    flags: [...'0123456789'].map((digit) => `-${digit}`),
    valued: ['-n', '--adjustment'],
  }),
  ionice: plain('ionice', { flags: ['-t'], valued: ['-c', '-n', '--class', '--classdata'] }),
  timeout: plain('timeout', {
    flags: ['-v', '--preserve-status', '--foreground', '--verbose'],
    valued: ['-k', '-s', '--kill-after', '--signal'],
    positional: 1,
  }),
  gtimeout: plain('gtimeout', {
    flags: ['-v', '--preserve-status', '--foreground', '--verbose'],
    valued: ['-k', '-s', '--kill-after', '--signal'],
    positional: 1,
  }),
  time: plain(
    'time',
    {
      flags: ['-p', '-v', '-a', '-q', '--portability', '--verbose', '--append', '--quiet'],
      valued: ['-f', '-o', '--format', '--output'],
    },
    (line) => ({ writes: valuesOf(line, '-o', '--output') }),
  ),
  command: (args) => {
    const line = reading('command', { flags: ['-p', '-v', '-V'] }, args)
    return { fields: has(line, '-v', '-V') ? [] : line.operands }
  },
  builtin: plain('builtin', { flags: [] }),
  exec: plain('exec', { flags: ['-c', '-l'], valued: ['-a'] }),
  busybox: plain('busybox', { flags: ['--list', '--help'] }),
  toybox: plain('toybox', { flags: ['--long', '--help', '--version'] }),
  caffeinate: plain('caffeinate', { flags: ['-d', '-i', '-m', '-s', '-u'], valued: ['-t', '-w'] }),
}
