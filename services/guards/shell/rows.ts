// The changes that commands make on the disk, by their arguments. One row for each command whose
// arguments name its outputs. A command without a row may write anywhere unchecked.

import { type CommandLine, commandLine, has, valuesOf } from './command-line.ts'
import { anyName, list } from './field.ts'
import { gitChanges } from './git.ts'
import { nameOf } from './paths.ts'

/** Paths as written in the command. */
export type Changes = {
  writes?: string[]
  /** Removed, moved or replaced paths. An allowed folder itself must not be among them. */
  removes?: string[]
  /** The targets of created links. */
  links?: string[]
  /** Files made from data of the net. */
  fetched?: string[]
  /** Copied to each of `writes`. Copies of fetched files are fetched too. */
  copied?: string[]
  /** An unknown argument that could be an option. */
  uncertain?: string | undefined
  /** The reason why the changes cannot be determined. */
  unknowable?: string
}

type Row = (args: readonly string[]) => Changes

/** Undefined: no row. */
export function changesOf(name: string, args: readonly string[]): Changes | undefined {
  return Object.hasOwn(rows, name) ? rows[name]?.(args) : undefined
}

export function hasRow(name: string): boolean {
  return Object.hasOwn(rows, name)
}

/** `valued`: see commandLine. */
function row(valued: string, changes: (line: CommandLine) => Changes, stops = false): Row {
  return (args) => {
    const line = commandLine(args, valued, stops)
    return { uncertain: line.uncertain, ...changes(line) }
  }
}

/** Without `-`, which is the output. */
function files(values: string[]): string[] {
  return values.filter((value) => value !== '-' && value !== '')
}

const writesAll = (valued = '') => row(valued, ({ operands }) => ({ writes: operands }))
const removesAll = (valued = '') => row(valued, ({ operands }) => ({ removes: operands }))
/** The values of these options are outputs. */
const writesTo = (options: string, valued = '') =>
  row(`${options} ${valued}`, (line) => ({ writes: files(valuesOf(line, options)) }))
const nth = (n: number, valued = '') =>
  row(valued, ({ operands }) => ({ writes: files(operands.slice(n, n + 1)) }))

/** cp, mv, install, ln: the last operand or the folder of -t is the target. */
const toTarget = (more: (line: CommandLine, from: string[], to: string[]) => Changes) =>
  row('-t --target-directory -S --suffix -m --mode -o --owner -g --group', (line) => {
    const folders = valuesOf(line, '-t --target-directory')
    const { operands } = line
    const from = folders.length > 0 ? operands : operands.slice(0, -1)
    const to = folders.length > 0 ? folders : operands.slice(-1)
    return { writes: to, copied: from, ...more(line, from, to) }
  })

const copy = toTarget((line, from) =>
  has(line, '-l -s --link --symbolic-link') ? { links: from } : {},
)

/** The mode or owner comes first, unless it is copied from another file. */
const attributes = row('--reference --from -m -M -x -X', (line) => ({
  writes: has(line, '--reference -m -x -M -X') ? line.operands : line.operands.slice(1),
}))

const compress = row('-S --suffix -T --threads -o -b -M --memlimit', (line) =>
  has(line, '-c --stdout --to-stdout -l --list -t --test')
    ? {}
    : { removes: line.operands, writes: valuesOf(line, '-o') },
)

/** Editors of streams, and languages that edit files: `-i` writes the files behind the program. */
const edits = (valued: string, program: string, inPlace: string, stops = false) =>
  row(
    valued,
    (line) => {
      if (!has(line, inPlace)) return {}
      return { writes: has(line, program) ? line.operands : line.operands.slice(1) }
    },
    stops,
  )
const sed = edits(
  '-e --expression -f --file -l --line-length -i* -I*',
  '-e --expression -f --file',
  '-i -I --in-place',
)
const perl = edits('-e -E -i* -I* -M* -m* -x* -C* -F* -0* -l*', '-e -E', '-i', true)
const awk = row(
  '-f -v -F -i --include --file --assign -l -E -e --source',
  (line) => {
    if (!valuesOf(line, '-i --include').some((library) => library.startsWith('inplace'))) return {}
    return { writes: has(line, '-f --file') ? line.operands : line.operands.slice(1) }
  },
  true,
)

const curlOutputs =
  '-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts --alt-svc --libcurl'
const curl = row(
  `${curlOutputs} ${[...'AbCdeEFhHKmPQrtTuUwxXyYzZ'].map((letter) => `-${letter}`).join(' ')}
   --output-dir --url --data --data-raw --data-binary --data-urlencode --json --header --request
   --user --user-agent --max-time --connect-timeout --retry --retry-delay --retry-max-time --form
   --cacert --cert --key --proxy --cookie --referer --range --write-out --resolve --upload-file
   --limit-rate --max-redirs --variable --url-query`,
  (line) => {
    const folder = valuesOf(line, '--output-dir').at(-1)
    const own = has(line, '-O --remote-name --remote-name-all -J --remote-header-name')
    const urls = own ? [...line.operands, ...valuesOf(line, '--url')].map(lastOfUrl) : []
    const fetched = below(folder, [...files(valuesOf(line, '-o --output')), ...urls])
    const others = files(valuesOf(line, curlOutputs.replace('-o --output', '')))
    return { writes: [...fetched, ...(own ? [folder ?? '.'] : []), ...others], fetched }
  },
)

const wgetLogs = '-o --output-file -a --append-output --save-cookies --warc-file --rejected-log'
const wget = row(
  `${wgetLogs} -O --output-document -P --directory-prefix -e --execute -i --input-file -U --user-agent
   -Q -t --tries -T --timeout -w --wait -l --level -A -R -D -I -X --header --post-data --post-file
   --user --password --load-cookies --referer --limit-rate`,
  (line) => {
    if (valuesOf(line, '-e --execute').some((one) => !/^robots ?= ?(on|off)$/.test(one)))
      return { unknowable: '--execute may set where it writes' }
    const folder = valuesOf(line, '-P --directory-prefix').at(-1)
    const named = files(valuesOf(line, '-O --output-document'))
    const own = has(line, '-O --output-document') ? [] : below(folder, line.operands.map(lastOfUrl))
    const places = has(line, '-O --output-document --spider') ? named : [folder ?? '.']
    return { writes: [...files(valuesOf(line, wgetLogs)), ...places], fetched: [...named, ...own] }
  },
)

function lastOfUrl(url: string): string {
  const path = url.replace(/^[a-z]+:\/\//i, '').split(/[?#]/)[0] ?? ''
  return path.includes('/') ? nameOf(path) || 'index.html' : 'index.html'
}

function below(folder: string | undefined, paths: string[]): string[] {
  return paths.map((path) =>
    folder === undefined || path.startsWith('/') ? path : `${folder}/${path}`,
  )
}

/** `host:path` is on another machine. */
function local(paths: string[]): string[] {
  return paths.filter((path) => !/^[^/]*:/.test(path))
}

const rsyncOutputs =
  '-T --temp-dir --log-file --backup-dir --partial-dir --write-batch --only-write-batch'

/** Rewrites `tar xzf FILE` as `tar -x -z -f FILE`: the values come in the order of their letters. */
const tar: Row = ([first = '', ...rest]) => {
  const valued = [...'fCTXbgHKLNV']
  const isOld = /^[A-Za-z]+$/.test(first)
  let at = 0
  const dashed = isOld
    ? [...first].flatMap((one) =>
        valued.includes(one) ? [`-${one}`, rest[at++] ?? ''] : [`-${one}`],
      )
    : [first]
  const line = commandLine(
    [...dashed, ...rest.slice(at)],
    `${valued.map((one) => `-${one}`).join(' ')} --file --directory --files-from --exclude
     --exclude-from --transform --strip-components --owner --group --mode --mtime`,
  )
  const { uncertain } = line
  if (has(line, '-I -F')) return { unknowable: 'one of its options runs a command' }
  if (has(line, '-x --extract --get')) {
    if (has(line, '-P --absolute-names')) return { unknowable: 'the archive names where it writes' }
    const folders = valuesOf(line, '-C --directory')
    return {
      uncertain,
      writes: [
        ...(folders.length > 0 ? folders : ['.']),
        ...files(valuesOf(line, '--one-top-level')),
      ],
    }
  }
  if (!has(line, '-c --create -r --append -u --update -A --concatenate --delete'))
    return { uncertain }
  const removes = has(line, '--remove-files') ? line.operands : []
  return { uncertain, writes: files(valuesOf(line, '-f --file')), removes }
}

const sevenZip = row('-o* -w* -i* -x* -m* -p* -t* -a* -s* -v* -r*', (line) => {
  const [command = '', archive] = line.operands
  const folders = valuesOf(line, '-o -w')
  if (/^[xe]/.test(command)) return { writes: folders.length > 0 ? folders : ['.'] }
  return /^[ltbih]/.test(command) ? {} : { writes: [...files([archive ?? '.']), ...folders] }
})

const openssl: Row = (args) => ({
  writes: args.filter((_, i) => /^-(out|keyout|writerand|CAserial)$/.test(args[i - 1] ?? '')),
})

const dd: Row = (args) => ({
  writes: args.filter((arg) => arg.startsWith('of=')).map((arg) => arg.slice('of='.length)),
  uncertain: args.find((arg) => !/^[a-z]+=/.test(arg) && !arg.startsWith('--')),
})

const table: [string, Row][] = [
  ['touch', writesAll('-d --date -r --reference -t --time')],
  ['mkdir mkfifo', writesAll('-m --mode')],
  ['mknod', nth(0, '-m --mode')],
  ['tee sponge', writesAll()],
  ['truncate', writesAll('-s --size -r --reference')],
  ['fallocate', writesAll('-l --length -o --offset')],
  [
    'mktemp',
    row('-p --tmpdir --suffix', (line) => ({
      writes: files([...valuesOf(line, '-p --tmpdir'), ...line.operands]),
    })),
  ],
  ['rm rmdir unlink trash', removesAll()],
  ['shred', removesAll('-n --iterations -s --size --random-source')],
  ['cp gcp', copy],
  ['mv', toTarget((_, from) => ({ removes: from }))],
  [
    'install',
    toTarget((line) => (has(line, '-d --directory') ? { writes: line.operands, copied: [] } : {})),
  ],
  [
    'ln',
    toTarget((_, from, to) => (from.length === 0 ? { writes: ['.'], links: to } : { links: from })),
  ],
  ['chmod chown chgrp chattr chcon setfacl', attributes],
  ['dd', dd],
  ['sed gsed', sed],
  ['perl ruby', perl],
  ['awk gawk', awk],
  ['sort', writesTo('-o --output', '-k --key -t --field-separator -S -T --parallel --files0-from')],
  ['shuf', writesTo('-o --output', '-n -i --head-count --input-range')],
  ['iconv', writesTo('-o --output', '-f -t --from-code --to-code')],
  ['gpg', writesTo('-o --output --homedir', '-r --recipient -u --local-user')],
  [
    'yq',
    row('', (line) => ({
      writes: has(line, '-i --inplace --in-place') ? line.operands.slice(1) : [],
    })),
  ],
  ['uniq', nth(1, '-f -s -w')],
  ['xxd', nth(1, '-c -g -l -o -s -n')],
  [
    'split',
    row('-a -b -C -l -n -t --lines --bytes --number --suffix-length', ({ operands }) => ({
      writes: [operands[1] ?? 'xaa'],
    })),
  ],
  [
    'csplit',
    row('-f --prefix -b -n', (line) => ({
      writes: [valuesOf(line, '-f --prefix').at(-1) ?? 'xx00'],
    })),
  ],
  ['gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4', compress],
  [
    'unzip',
    row('-d -x -P', (line) =>
      has(line, '-l -t -v -p -z -Z -c')
        ? {}
        : { writes: has(line, '-d') ? valuesOf(line, '-d') : ['.'] },
    ),
  ],
  [
    'zip',
    row('-b -O -x -i -t -P', (line) => ({
      writes: files([...line.operands.slice(0, 1), ...valuesOf(line, '-b -O --output-file')]),
      removes: has(line, '-m --move') ? line.operands.slice(1) : [],
    })),
  ],
  [
    'cpio',
    row('-D --directory -F --file -O -E -I -H', (line) => ({
      writes: has(line, '-o --create -t --list') ? valuesOf(line, '-O -F --file') : ['/', '.'],
    })),
  ],
  ['tar bsdtar gtar', tar],
  ['7z 7za 7zr 7zz', sevenZip],
  [
    'unrar',
    row('-o* -p*', ({ operands }) => ({
      writes: /^[xe]/.test(operands[0] ?? '')
        ? [operands.at(-1)?.endsWith('/') ? (operands.at(-1) as string) : '.']
        : [],
    })),
  ],
  [
    'patch',
    row(
      '-o --output -d --directory -i --input -p --strip -r --reject-file -B -D -F -V -z -Y',
      (line) => ({
        writes: [
          ...files(valuesOf(line, '-o --output -r --reject-file')),
          ...line.operands.slice(0, 1),
          ...(has(line, '-d --directory') ? valuesOf(line, '-d --directory') : ['.']),
        ],
      }),
    ),
  ],
  ['curl', curl],
  ['wget', wget],
  [
    'rsync',
    row(
      `${rsyncOutputs} -e --rsh -f --filter -B -M --exclude --exclude-from --include --include-from --files-from --chmod --chown --bwlimit --timeout --port`,
      (line) => ({
        writes: [...valuesOf(line, rsyncOutputs), ...local(line.operands.slice(-1))],
        removes: has(line, '--remove-source-files') ? local(line.operands.slice(0, -1)) : [],
      }),
    ),
  ],
  [
    'scp',
    row('-P -i -o -F -l -c -S -J -D -X', ({ operands }) => ({
      writes: local(operands.slice(-1)),
      fetched: local(operands.slice(-1)),
    })),
  ],
  ['git', gitChanges],
  ['openssl', openssl],
  [
    'crontab',
    row('-u', (line) =>
      has(line, '-l') && line.operands.length === 0
        ? {}
        : { writes: [`/var/spool/cron/${anyName}`] },
    ),
  ],
  [
    'aria2c',
    row('-o --out -d --dir -l --log -i -j -s -x', (line) => ({
      writes: [
        valuesOf(line, '-d --dir').at(-1) ?? '.',
        ...files(valuesOf(line, '-o --out -l --log')),
      ],
      fetched: below(valuesOf(line, '-d --dir').at(-1), valuesOf(line, '-o --out')),
    })),
  ],
]
const rows: Record<string, Row> = Object.fromEntries(
  table.flatMap(([names, one]) => list(names).map((name) => [name, one])),
)
