// The changes that commands make on the disk, by their arguments. One row for each command whose
// arguments name its outputs. A command without a row may write anywhere unchecked (README.md).

import { type Changes, files, type Reading, type Row, row } from './change-row.ts'
import { type CommandLine, has, valuesOf } from './command-line.ts'
import { anyName } from './field.ts'
import { gitChanges } from './git.ts'
import { tarChanges } from './tar.ts'
import { below, curl, rsync, scp, wget } from './transfers.ts'

export function changesOf(name: string, args: readonly string[]): Changes | undefined {
  return Object.hasOwn(rows, name) ? rows[name]?.(args) : undefined
}

const writesAll = (...valued: string[]): Row =>
  row({ valued }, ({ operands }) => ({ writes: operands }))
const removesAll = (...valued: string[]): Row =>
  row({ valued }, ({ operands }) => ({ removes: operands }))
/** The values of these options are outputs. `-` is the standard output. */
const writesTo = (reading: Reading, ...options: string[]): Row =>
  row(reading, (line) => ({ writes: files(valuesOf(line, ...options)) }))

const copy = row({ valued: ['-t', '--target-directory', '-S', '--suffix'] }, (line) => {
  const { sources, target } = sourcesAndTarget(line)
  const makesLinks = has(line, '-l', '-s', '--link', '--symbolic-link')
  return { writes: target, copied: sources, links: makesLinks ? sources : [] }
})

const move = row({ valued: ['-t', '--target-directory', '-S', '--suffix'] }, (line) => {
  const { sources, target } = sourcesAndTarget(line)
  return { writes: target, removes: sources, copied: sources }
})

const install = row(
  {
    valued: [
      '-t',
      '--target-directory',
      '-S',
      '--suffix',
      '-m',
      '--mode',
      '-o',
      '--owner',
      '-g',
      '--group',
      '--strip-program',
    ],
  },
  (line) => {
    if (has(line, '--strip-program')) return { unknowable: '--strip-program runs a command' }
    if (has(line, '-d', '--directory')) return { writes: line.operands }
    const { sources, target } = sourcesAndTarget(line)
    return { writes: target, copied: sources }
  },
)

const link = row({ valued: ['-t', '--target-directory', '-S', '--suffix'] }, (line) => {
  const { sources, target } = sourcesAndTarget(line)
  return line.operands.length === 1 && target.length === 1
    ? { writes: ['.'], links: target }
    : { writes: target, links: sources }
})

function sourcesAndTarget(line: CommandLine): { sources: string[]; target: string[] } {
  const folders = valuesOf(line, '-t', '--target-directory')
  if (folders.length > 0) return { sources: line.operands, target: folders }
  return { sources: line.operands.slice(0, -1), target: line.operands.slice(-1) }
}

/** The mode or owner comes first, unless it is copied from another file. */
const attributes: Row = row(
  { valued: ['--reference', '--from', '-m', '-M', '-x', '-X'] },
  (line) => ({
    writes: has(line, '--reference', '-m', '-x', '-M', '-X')
      ? line.operands
      : line.operands.slice(1),
  }),
)

const compress = row(
  { valued: ['-S', '--suffix', '-T', '--threads', '-o', '-b', '-M', '--memlimit'] },
  (line) =>
    has(line, '-c', '--stdout', '--to-stdout', '-l', '--list', '-t', '--test')
      ? {}
      : { removes: line.operands, writes: valuesOf(line, '-o') },
)

const editStream = row(
  { valued: ['-e', '--expression', '-f', '--file', '-l', '--line-length'], attached: ['-i', '-I'] },
  (line) => {
    if (!has(line, '-i', '-I', '--in-place')) return {}
    return {
      writes: has(line, '-e', '--expression', '-f', '--file')
        ? line.operands
        : line.operands.slice(1),
    }
  },
)

const editByScript = row(
  {
    valued: ['-e', '-E'],
    attached: ['-i', '-I', '-M', '-m', '-x', '-C', '-F', '-0', '-l'],
    stops: true,
  },
  (line) => {
    if (!has(line, '-i')) return {}
    return { writes: has(line, '-e', '-E') ? line.operands : line.operands.slice(1) }
  },
)

const awk = row(
  { valued: ['-f', '-v', '-F', '-i', '--include', '--file', '--assign', '-l', '-E'], stops: true },
  (line) => {
    if (!valuesOf(line, '-i', '--include').some((library) => library.startsWith('inplace')))
      return {}
    return { writes: has(line, '-f', '--file') ? line.operands : line.operands.slice(1) }
  },
)

const dd: Row = (args) => ({
  writes: args.filter((arg) => arg.startsWith('of=')).map((arg) => arg.slice('of='.length)),
  uncertain: args.find((arg) => !/^[a-z]+=/.test(arg) && !arg.startsWith('--')),
})

const unzip = row({ valued: ['-d', '-x', '-P'] }, (line) =>
  has(line, '-l', '-t', '-v', '-p', '-z', '-Z', '-c')
    ? {}
    : { writes: has(line, '-d') ? valuesOf(line, '-d') : ['.'] },
)

const patch = row(
  {
    valued: [
      '-o',
      '--output',
      '-d',
      '--directory',
      '-i',
      '--input',
      '-p',
      '--strip',
      '-r',
      '--reject-file',
      '-B',
      '-D',
      '-F',
      '-V',
      '-z',
      '-Y',
    ],
  },
  (line) => ({
    writes: [
      ...files(valuesOf(line, '-o', '--output', '-r', '--reject-file')),
      ...line.operands.slice(0, 1),
      ...(has(line, '-d', '--directory') ? valuesOf(line, '-d', '--directory') : ['.']),
    ],
  }),
)

const secondOperand = (...valued: string[]): Row =>
  row({ valued }, ({ operands }) => ({ writes: files(operands.slice(1, 2)) }))
const firstOperand = (...valued: string[]): Row =>
  row({ valued }, ({ operands }) => ({ writes: files(operands.slice(0, 1)) }))

const rows: Record<string, Row> = {
  touch: writesAll('-d', '--date', '-r', '--reference', '-t', '--time'),
  mkdir: writesAll('-m', '--mode'),
  mkfifo: writesAll('-m', '--mode'),
  mknod: firstOperand('-m', '--mode'),
  tee: writesAll(),
  sponge: writesAll(),
  truncate: writesAll('-s', '--size', '-r', '--reference'),
  fallocate: writesAll('-l', '--length', '-o', '--offset'),
  mktemp: row({ valued: ['-p', '--tmpdir', '--suffix'] }, (line) => ({
    writes: [...valuesOf(line, '-p', '--tmpdir'), ...line.operands].filter((path) => path !== ''),
  })),
  rm: removesAll(),
  rmdir: removesAll(),
  unlink: removesAll(),
  shred: removesAll('-n', '--iterations', '-s', '--size', '--random-source'),
  trash: removesAll(),
  cp: copy,
  gcp: copy,
  mv: move,
  install,
  ln: link,
  chmod: attributes,
  chown: attributes,
  chgrp: attributes,
  chattr: attributes,
  chcon: attributes,
  setfacl: attributes,
  dd,
  sed: editStream,
  gsed: editStream,
  perl: editByScript,
  ruby: editByScript,
  awk,
  gawk: awk,
  sort: writesTo(
    {
      valued: [
        '-o',
        '--output',
        '-k',
        '--key',
        '-t',
        '--field-separator',
        '-S',
        '-T',
        '--parallel',
        '--files0-from',
      ],
    },
    '-o',
    '--output',
  ),
  shuf: writesTo(
    { valued: ['-o', '--output', '-n', '-i', '--head-count', '--input-range'] },
    '-o',
    '--output',
  ),
  iconv: writesTo(
    { valued: ['-o', '--output', '-f', '-t', '--from-code', '--to-code'] },
    '-o',
    '--output',
  ),
  gpg: writesTo(
    { valued: ['-o', '--output', '-r', '--recipient', '-u', '--local-user', '--homedir'] },
    '-o',
    '--output',
    '--homedir',
  ),
  yq: row({ valued: [], attached: [] }, (line) => ({
    writes: has(line, '-i', '--inplace', '--in-place') ? line.operands.slice(1) : [],
  })),
  uniq: secondOperand('-f', '-s', '-w'),
  xxd: secondOperand('-c', '-g', '-l', '-o', '-s', '-n'),
  split: row(
    {
      valued: [
        '-a',
        '-b',
        '-C',
        '-l',
        '-n',
        '-t',
        '--lines',
        '--bytes',
        '--number',
        '--suffix-length',
        '--filter',
      ],
    },
    (line) =>
      has(line, '--filter')
        ? { unknowable: '--filter runs a command' }
        : { writes: [line.operands[1] ?? 'xaa'] },
  ),
  csplit: row({ valued: ['-f', '--prefix', '-b', '-n'] }, (line) => ({
    writes: [valuesOf(line, '-f', '--prefix').at(-1) ?? 'xx00'],
  })),
  gzip: compress,
  gunzip: compress,
  bzip2: compress,
  bunzip2: compress,
  xz: compress,
  unxz: compress,
  zstd: compress,
  unzstd: compress,
  lz4: compress,
  unzip,
  zip: row({ valued: ['-b', '-O', '-x', '-i', '-t', '-P'] }, (line) => ({
    writes: [...files(line.operands.slice(0, 1)), ...valuesOf(line, '-b', '-O', '--output-file')],
    removes: has(line, '-m', '--move') ? line.operands.slice(1) : [],
  })),
  cpio: row({ valued: ['-D', '--directory', '-F', '--file', '-O', '-E', '-I', '-H'] }, (line) => ({
    writes: has(line, '-o', '--create', '-t', '--list')
      ? valuesOf(line, '-O', '-F', '--file')
      : ['/', '.'],
  })),
  tar: tarChanges,
  bsdtar: tarChanges,
  gtar: tarChanges,
  patch,
  curl,
  wget,
  rsync,
  scp,
  git: gitChanges,
  openssl: (args) => ({
    writes: args.filter((_, i) => ['-out', '-keyout', '-writerand'].includes(args[i - 1] ?? '')),
  }),
  vi: writesAll(),
  vim: writesAll(),
  nvim: writesAll(),
  nano: writesAll(),
  pico: writesAll(),
  emacs: writesAll(),
  ed: writesAll(),
  ex: writesAll(),
  sudoedit: writesAll(),
  crontab: row({ valued: ['-u'] }, (line) =>
    has(line, '-l') && line.operands.length === 0 ? {} : { writes: [`/var/spool/cron/${anyName}`] },
  ),
  aria2c: row(
    { valued: ['-o', '--out', '-d', '--dir', '-l', '--log', '-i', '-j', '-s', '-x'] },
    (line) => ({
      writes: [
        valuesOf(line, '-d', '--dir').at(-1) ?? '.',
        ...files(valuesOf(line, '-o', '--out', '-l', '--log')),
      ],
      fetched: valuesOf(line, '-o', '--out').map((file) =>
        below(valuesOf(line, '-d', '--dir').at(-1), file),
      ),
    }),
  ),
}
