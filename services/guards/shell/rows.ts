// The changes that commands make on the disk, by their arguments. One row for each command whose
// arguments name its outputs. A command without a row may write anywhere unchecked.

import { type Changes, type CommandLine, commandLine, has, valuesOf } from './command-line.ts'
import { isUnknown, list } from './field.ts'
import { gitChanges } from './git.ts'
import { nameOf } from './paths.ts'

type Row = (args: readonly string[]) => Changes

/** Undefined: no row. */
export function changesOf(name: string, args: readonly string[]): Changes | undefined {
  if (/^(python|pypy)[\d.]*$/.test(name)) return moduleChanges(args)
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

/** cp, mv, install, ln: the last operand or the folder of -t is the target. */
function toTarget(line: CommandLine): { from: string[]; to: string[] } {
  const to = valuesOf(line, '-t --target-directory')
  const { operands } = line
  return to.length > 0
    ? { from: operands, to }
    : { from: operands.slice(0, -1), to: operands.slice(-1) }
}

/** `host:path` is on another machine. */
function local(paths: string[]): string[] {
  return paths.filter((path) => !/^[^/]*:/.test(path))
}

/** The effects of the table below. `names`: the options behind the effect's name. */
const effects: Record<string, (line: CommandLine, names: string) => Changes> = {
  writes: ({ operands }) => ({ writes: operands }),
  removes: ({ operands }) => ({ removes: operands }),
  first: ({ operands }) => ({ writes: files(operands.slice(0, 1)) }),
  second: ({ operands }) => ({ writes: files(operands.slice(1, 2)) }),
  to: (line, names) => ({ writes: files(valuesOf(line, names)) }),
  /** The mode or owner comes first, unless these options give it. */
  rest: (line, names) => ({ writes: has(line, names) ? line.operands : line.operands.slice(1) }),
  /** Replaces its files, unless these options make it print or list. */
  replaces: (line, names) =>
    has(line, names) ? {} : { removes: line.operands, writes: valuesOf(line, '-o') },
  /** Writes below the folder of these options, or below the working folder. */
  below: (line, names) => {
    const folders = valuesOf(line, names)
    return { writes: [...(folders.length > 0 ? folders : ['.']), ...line.operands.slice(0, 1)] }
  },
  copy: (line) => {
    const { from, to } = toTarget(line)
    const isLink = has(line, '-l -s --link --symbolic-link')
    return { writes: to, copied: from, links: isLink ? from : [] }
  },
  move: (line) => {
    const { from, to } = toTarget(line)
    return { writes: to, copied: from, removes: from }
  },
  install: (line) => {
    const { from, to } = toTarget(line)
    return has(line, '-d --directory') ? { writes: line.operands } : { writes: to, copied: from }
  },
  link: (line) => {
    const { from, to } = toTarget(line)
    return from.length > 0 ? { writes: to, links: from } : { writes: ['.'], links: to }
  },
  /** `-i` edits the files behind the program, which these options may give. */
  edit: (line, names) => {
    if (!has(line, '-i -I --in-place --inplace')) return {}
    return { writes: has(line, names) ? line.operands : line.operands.slice(1) }
  },
  split: ({ operands }) => ({ writes: [operands[1] ?? 'xaa'] }),
  unzip: (line) => {
    if (has(line, '-l -t -v -p -z -Z -c')) return {}
    return { writes: has(line, '-d') ? valuesOf(line, '-d') : ['.'] }
  },
  zip: (line) => ({
    writes: files([...line.operands.slice(0, 1), ...valuesOf(line, '-b -O --output-file')]),
    removes: has(line, '-m --move') ? line.operands.slice(1) : [],
  }),
  cpio: (line) => ({
    writes: has(line, '-o --create -t --list') ? valuesOf(line, '-O -F --file') : ['/', '.'],
  }),
  remote: (line, names) => ({
    writes: [...valuesOf(line, names), ...local(line.operands.slice(-1))],
    fetched: local(line.operands.slice(-1)),
    removes: has(line, '--remove-source-files') ? local(line.operands.slice(0, -1)) : [],
  }),
  /** Python's modules for archives: `-e ARCHIVE FOLDER`, `-c ARCHIVE FILES`. */
  archive: (line) => {
    const attached = valuesOf(line, '-c -e --create --extract')
    const operands = [...attached, ...line.operands].filter((one) => one !== '')
    if (has(line, '-c --create')) return { writes: operands.slice(0, 1) }
    if (!has(line, '-e --extract')) return {}
    return { writes: [operands[1] ?? '.'] }
  },
  cron: (line) =>
    has(line, '-l') && line.operands.length === 0 ? {} : { writes: ['/var/spool/cron/x'] },
}

/** Names | effect and its options | options with a value. */
const table = `
touch | writes | -d --date -r --reference -t --time
mkdir mkfifo | writes | -m --mode
tee sponge | writes |
truncate | writes | -s --size -r --reference
fallocate | writes | -l --length -o --offset
rm rmdir unlink trash | removes |
shred | removes | -n --iterations -s --size --random-source
mknod | first | -m --mode
uniq | second | -f -s -w
xxd | second | -c -g -l -o -s -n
sort | to -o --output -T --temporary-directory | -o --output -k --key -t --field-separator -S --buffer-size -T --temporary-directory --parallel --batch-size --files0-from
shuf | to -o --output | -o --output -n -i --head-count --input-range
iconv | to -o --output | -o --output -f -t --from-code --to-code
gpg | to -o --output --homedir | -o --output --homedir -r --recipient -u --local-user
csplit | to -f --prefix | -f --prefix -b -n
chmod chown chgrp chattr chcon setfacl | rest --reference -m -x -M -X | --reference --from -m -M -x -X
gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 | replaces -c --stdout --to-stdout -l --list -t --test | -S --suffix -T --threads -o -b -M --memlimit
cp gcp | copy | -t --target-directory -S --suffix
mv | move | -t --target-directory -S --suffix
ln | link | -t --target-directory -S --suffix
install | install | -t --target-directory -S --suffix -m --mode -o --owner -g --group
sed gsed | edit -e --expression -f --file | -e --expression -f --file -l --line-length -i* -I*
yq | edit | -p -o
split | split | -a -b -C -l -n -t --lines --bytes --number --suffix-length
unzip | unzip | -d -x -P
zip | zip | -b -O -x -i -t -P
cpio | cpio | -D --directory -F --file -O -E -I -H
patch | below -d --directory -o --output -r --reject-file | -o --output -d --directory -i --input -p --strip -r --reject-file -B -D -F -V -z -Y
rsync | remote -T --temp-dir --log-file --backup-dir --partial-dir --write-batch --only-write-batch | -T --temp-dir --log-file --backup-dir --partial-dir --write-batch --only-write-batch -e --rsh -f --filter -B -M --exclude --exclude-from --include --include-from --files-from --chmod --chown --bwlimit --timeout --port
scp | remote | -P -i -o -F -l -c -S -J -D -X
crontab | cron | -u
pip pip3 -m:pip | to -t --target --prefix --root --src --cache-dir --log --report -d --dest -w --wheel-dir | -t --target --prefix --root --src --cache-dir --log --report -d --dest -w --wheel-dir -r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -f --find-links --python-version --platform --upgrade-strategy --timeout --retries --proxy
virtualenv -m:venv -m:virtualenv | writes | --prompt -p --python
-m:zipfile -m:tarfile | archive | -c* -e* -l* -t*
-m:json.tool | second | --indent
-m:gzip -m:py_compile | writes |
-m:compileall | writes | -d -s -p -r -i -j -o -e
-m:zipapp -m:pickletools | to -o --output | -o --output -p --python -m --main -l
-m:ensurepip | to --root | --root
-m:sqlite3 | first |
-m:build | to -o --outdir | -o --outdir -C --config-setting`

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

/** Options may follow the program of an interpreter: the program ends its own. */
const editPerl = row(
  '-e -E -i* -I* -M* -m* -x* -C* -F* -0* -l*',
  (line) => effects.edit?.(line, '-e -E') ?? {},
  true,
)
const editAwk = row(
  '-f -v -F -i --include --file --assign -l -E -e --source',
  (line) =>
    valuesOf(line, '-i --include').length > 0 ? (effects.edit?.(line, '-f --file') ?? {}) : {},
  true,
)

/** `python -m MODULE`: the table has the module as `-m:MODULE`. */
function moduleChanges(args: readonly string[]): Changes {
  for (let i = 0; i < args.length; i++) {
    const [, attached] = /^-[a-zA-Z]*?m(.*)$/s.exec(args[i] as string) ?? []
    if (attached !== undefined) {
      const module = attached || (args[i + 1] ?? '')
      if (isUnknown(module)) return { unknowable: 'the name of the module is not known' }
      return rows[`-m:${module}`]?.(args.slice(i + (attached ? 1 : 2))) ?? {}
    }
    if (!args[i]?.startsWith('-') || /^-[a-zA-Z]*c/.test(args[i] as string)) return {}
    if (/^-[WX]$/.test(args[i] as string)) i++
  }
  return {}
}

/** Its log is a copy of the shown text. */
const less: Row = (args) => {
  const names = '-o -O --log-file --LOG-FILE'
  const line = commandLine(args, `${names} -b -h -j -p -P -t -T -x -y -z -D -k`)
  return { writes: files(valuesOf(line, names)) }
}

const rows: Record<string, Row> = {
  less,
  perl: editPerl,
  ruby: editPerl,
  awk: editAwk,
  gawk: editAwk,
  curl,
  wget,
  tar,
  bsdtar: tar,
  gtar: tar,
  '7z': sevenZip,
  '7za': sevenZip,
  '7zr': sevenZip,
  '7zz': sevenZip,
  unrar: (args) => sevenZip([...args.slice(0, 2), ...args.slice(2).map((arg) => `-o${arg}`)]),
  git: gitChanges,
  mktemp: row('-p --tmpdir --suffix', (line) => ({
    writes: files([...valuesOf(line, '-p --tmpdir'), ...line.operands]),
  })),
  openssl: (args) => ({
    writes: args.filter((_, i) => /^-(out|keyout|writerand|CAserial)$/.test(args[i - 1] ?? '')),
  }),
  dd: (args) => ({
    writes: args.filter((arg) => arg.startsWith('of=')).map((arg) => arg.slice('of='.length)),
    uncertain: args.find((arg) => !/^[a-z]+=/.test(arg) && !arg.startsWith('--')),
  }),
}
for (const entry of table.trim().split('\n')) {
  const [names = '', effect = '', valued = ''] = entry.split(' |')
  const [kind = '', ...options] = list(effect)
  const changes = effects[kind]
  if (changes === undefined) throw new Error(`no effect ${kind}`)
  for (const name of list(names))
    rows[name] = row(valued, (line) => changes(line, options.join(' ')))
}
