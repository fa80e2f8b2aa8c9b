// The changes that programs make on the disk, by their arguments. Options are not interpreted: a
// word counts as an output wherever it could be one. A program without a rule is not checked.
//
// SHELL-CHANGES-1. A word that may be an output is checked as one. Being wrong only refuses more.

import { commandLine, has, operandsOf, optionValues } from './command-line.ts'
import { anything, isUnknown, list } from './field.ts'
import { checkGit } from './git.ts'
import { checkWrite, type Place, rememberFetched, wasFetched } from './place.ts'
import { unclear } from './refusal.ts'

/** Every word of them may be written. The second list may not remove an allowed folder itself. */
const writers =
  list(`touch mkdir mkfifo mknod tee sponge truncate fallocate chmod chown chgrp chattr
  chcon setfacl zip split csplit mktemp virtualenv`)
const removers = list(
  `rm rmdir unlink trash shred gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4`,
)
/** The last word of them is the target. */
const copiers = list('cp gcp mv ln install rsync scp')
/** Their second word, if any, is the output. */
const converters = list('uniq xxd')
/** They write in the folder where they run, or in that of these options. */
const inFolder: Record<string, string> = { patch: '-d --directory', unzip: '-d' }

/** Options whose value is written, in any program that has the name. */
const outputs: Record<string, string> = {
  sort: '-o --output -T --temporary-directory',
  shuf: '-o --output',
  iconv: '-o --output',
  gpg: '-o --output --homedir',
  less: '-o -O --log-file --LOG-FILE',
  nc: '-o -x --output --hex-dump',
  cp: '-t --target-directory',
  mv: '-t --target-directory',
  ln: '-t --target-directory',
  install: '-t --target-directory',
  mktemp: '-p --tmpdir',
  rsync: '-T --temp-dir --log-file --backup-dir --partial-dir --write-batch --only-write-batch',
  patch: '-d --directory -o --output -r --reject-file',
  pip: '-t --target --prefix --root --src --cache-dir --log --report -d --dest -w --wheel-dir',
  openssl: '-out -keyout -writerand -CAserial',
  curl: `-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts
    --alt-svc --libcurl --output-dir`,
  wget: `-O --output-document -o --output-file -a --append-output -P --directory-prefix
    --save-cookies --warc-file --rejected-log --hsts-file`,
}
outputs.ncat = outputs.nc as string
outputs.pip3 = outputs['-m:pip'] = outputs.pip as string

const special: Record<string, (args: readonly string[], place: Place) => void> = {
  git: checkGit,
  tar: checkTar,
  bsdtar: checkTar,
  gtar: checkTar,
  curl: checkCurl,
  wget: checkWget,
  dd: (args, place) => {
    for (const arg of args) {
      if (!/^(if|bs|count|skip|seek|conv|status|[io]flag)=/.test(arg) && !arg.startsWith('of='))
        throw unclear('dd', arg)
      if (arg.startsWith('of=')) checkAll('dd', [arg.slice('of='.length)], place)
    }
  },
  crontab: (args, place) => {
    if (args.join(' ') !== '-l') checkWrite('/var/spool/cron/x', 'crontab', place)
  },
  sed: (args, place) => checkEdited('sed', args, '-e -f --expression --file -l -i* -I*', place),
  gsed: (args, place) => checkEdited('sed', args, '-e -f --expression --file -l -i* -I*', place),
  perl: (args, place) =>
    checkEdited('perl', args, '-e -E -i* -I* -M* -m* -x* -C* -F* -0* -l*', place),
  ruby: (args, place) => checkEdited('ruby', args, '-e -i* -I* -r* -C* -F* -0* -x*', place),
  yq: (args, place) => checkEdited('yq', args, '-p -o', place),
}

export function hasChanges(base: string): boolean {
  const lists = [writers, removers, copiers, converters]
  const isListed = lists.some((one) => one.includes(base))
  return isListed || [inFolder, outputs, special].some((one) => Object.hasOwn(one, base))
}

export function checkChanges(base: string, args: readonly string[], place: Place): void {
  if (/^(python|pypy)[\d.]*$/.test(base)) return checkModule(args, place)
  if (!hasChanges(base)) return
  const uncertain = args.find((arg, i) => {
    const isText = base === 'git' && /^(-[a-z]*m|--message)$/.test(args[i - 1] ?? '')
    return arg[0] === anything && !isText && !args.slice(0, i).includes('--')
  })
  if (uncertain !== undefined && !/^(less|nc|ncat)$/.test(base)) throw unclear(base, uncertain)
  special[base]?.(args, place)
  for (const value of optionValues(args, outputs[base] ?? '')) checkOutput(value, base, place)
  if (converters.includes(base))
    for (const path of operandsOf(args).slice(1)) checkOutput(path, base, place)
  const folders = inFolder[base]
  if (folders !== undefined && !lists(args))
    for (const path of ['.', ...optionValues(args, folders)]) checkOutput(path, base, place)
  const keeps = removers.includes(base) && /z/.test(base) && printsOnly(args)
  if ((writers.includes(base) || removers.includes(base) || base === 'patch') && !keeps)
    checkAll(base, args, place)
  if (copiers.includes(base)) checkCopied(base, args, place)
}

/** Whether unzip only lists. Behind another option, the word may be its value. */
function lists([first = '']: readonly string[]): boolean {
  return /^-q*[ltvpZz]+q*$/.test(first)
}

/** Whether gzip or its like keeps its files. */
function printsOnly([first = '']: readonly string[]): boolean {
  return /^-[dkfqv\d]*[clt][cdkfqvlt\d]*$|^--(stdout|to-stdout|list|test)$/.test(first)
}

/** Each word, and each value of an option that may be a path. */
function checkAll(base: string, args: readonly string[], place: Place): void {
  for (const path of operandsOf(args)) checkOutput(path, base, place, removers.includes(base))
  for (const arg of args) {
    const [value] = /(?<==).*$|[/~\uE000].*$|\.\.?\/.*$/s.exec(arg) ?? []
    if (arg.startsWith('-') && value !== undefined) checkOutput(value, base, place)
  }
  const isFetched = place.input.kind === 'net' || args.some((arg) => wasFetched(arg, place))
  if (isFetched) for (const path of operandsOf(args)) rememberFetched(path, place)
}

/** Options behind the target hide it. Then, and for links, every word counts as a target. */
function checkCopied(base: string, args: readonly string[], place: Place): void {
  const operands = operandsOf(args)
  const isLink = base === 'ln' || has(args, base === 'rsync' ? '' : '-s -l --link --symbolic-link')
  const [before = '', last = ''] = args.slice(-2)
  const isClear = !last.startsWith('-') && !/^-./.test(before.replace(/^--$/, ''))
  const isPlain = isClear || operands.length < 2
  if (!isPlain || isLink || (base === 'install' && has(args, '-d --directory')))
    checkAll(base, args, place)
  const isRemote = (path: string) => /^(rsync|scp)$/.test(base) && /^[^/]*:/.test(path)
  const targets = isPlain ? operands.slice(-1) : operands
  for (const path of targets) if (!isRemote(path)) checkOutput(path, base, place)
  if (base === 'mv') for (const path of operands.slice(0, -1)) checkOutput(path, base, place, true)
  if (has(args, '--remove-source-files')) checkAll(base, args, place)
  if (isLink && operands.slice(0, -1).some((path) => path.includes('..')))
    if (operands.at(-1)?.includes('/')) throw unclear(base, operands[0] ?? '')
  if (operands.some((path) => wasFetched(path, place)) || /^(rsync|scp)$/.test(base))
    for (const path of operands) rememberFetched(path, place)
}

function checkEdited(base: string, args: readonly string[], valued: string, place: Place): void {
  if (!args.some((arg) => /^-[a-zA-Z0-9]*i|^--i/.test(arg))) return
  const line = commandLine(args, valued, base === 'perl' || base === 'ruby')
  const isGiven = line.options.some(({ name }) =>
    (base === 'sed' ? /^(-[ef]|--expression|--file)$/ : /^-[eE]$/).test(name),
  )
  const files = isGiven ? line.operands : line.operands.slice(1)
  for (const path of files) checkOutput(path, base, place)
}

function checkTar(args: readonly string[], place: Place): void {
  const [first = '', ...rest] = args
  // `tar xzf FILE` reads the file behind all letters.
  const isOld = /^[A-Za-z]+$/.test(first)
  if (isOld && !/^[xctruAzjJvfpk]+$/.test(first)) throw unclear('tar', first)
  const all = isOld
    ? [`-${first.replace('f', '')}${first.includes('f') ? 'f' : ''}`, ...rest]
    : args
  const extracts = has(all, '-x --extract --get')
  if (has(all, '-P -I -F --absolute-names --remove-files')) throw unclear('tar', first)
  const folders = optionValues(all, '-C --directory --one-top-level')
  if (extracts) for (const path of ['.', ...folders]) checkOutput(path, 'tar', place)
  if (has(all, '-c -r -u -A --create --append --update --catenate --concatenate --delete'))
    for (const path of optionValues(all, '-f --file')) checkOutput(path, 'tar', place)
}

function checkCurl(args: readonly string[], place: Place): void {
  if (has(args, '-O -J --remote-name --remote-name-all --remote-header-name'))
    checkOutput('.', 'curl', place)
  rememberNames([...args, ...optionValues(args, '-o --output')], place)
}

function checkWget(args: readonly string[], place: Place): void {
  for (const value of optionValues(args, '-e --execute'))
    if (!/^robots ?= ?(on|off)$/.test(value)) throw unclear('wget', value)
  checkOutput('.', 'wget', place)
  rememberNames([...args, ...optionValues(args, '-O --output-document')], place)
}

/** The names of files from the net, also those that a URL gives. */
function rememberNames(words: readonly string[], place: Place): void {
  for (const word of words) rememberFetched(word.split(/[?#]/)[0] as string, place)
}

/** Modules of Python that write files. inline.ts has those that run code. */
const modules = list(
  'zipfile tarfile gzip py_compile compileall zipapp pickletools sqlite3 ensurepip',
)

/** `python -m MODULE`. */
function checkModule(args: readonly string[], place: Place): void {
  const at = args.findIndex((arg) => /^-[a-zA-Z]*m/.test(arg))
  const script = args.findIndex(
    (arg, i) => !arg.startsWith('-') && !/^-[WX]$/.test(args[i - 1] ?? ''),
  )
  if (at < 0 || (script >= 0 && script < at)) return
  const attached = (args[at] ?? '').replace(/^-[a-zA-Z]*?m/, '')
  const module = attached === '' ? (args[at + 1] ?? '') : attached
  const rest = args.slice(at + (attached === '' ? 2 : 1))
  if (isUnknown(module) || modules.includes(module.split('.')[0] as string))
    throw unclear('python', `-m ${module}`)
  if (module === 'pip') checkChanges('-m:pip', rest, place)
  if (/^(venv|virtualenv)$/.test(module)) checkAll('venv', rest, place)
  if (module !== 'json.tool') return
  const uncertain = rest.find((arg) => arg[0] === anything)
  if (uncertain !== undefined) throw unclear('json.tool', uncertain)
  for (const path of operandsOf(rest).slice(1)) checkOutput(path, 'json.tool', place)
}

function checkOutput(path: string, base: string, place: Place, removes = false): void {
  if (path !== '-' && path !== '') checkWrite(path, base, place, removes)
}
