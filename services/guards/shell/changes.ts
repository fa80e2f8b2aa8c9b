// The changes that programs make on the disk, by their arguments. Options are not interpreted: a
// word counts as an output wherever it could be one. A program without a rule is not checked.
//
// SHELL-CHANGES-1. A word that may be an output is checked as one. Being wrong only refuses more.

import { has, operandsOf, optionValues } from './arguments.ts'
import { unclear } from './denial.ts'
import { anything, list, nameOf } from './field.ts'
import { checkStream } from './inline.ts'
import { checkWrite, type Place } from './place.ts'

/** Every word of them may be written. Removers may not remove an allowed folder itself. */
const writers =
  list(`touch mkdir mkfifo mknod tee sponge truncate fallocate chmod chown chgrp chattr
  chcon setfacl zip unzip split csplit mktemp virtualenv venv patch tar bsdtar gtar ln link`)
const removers = list(
  `rm rmdir unlink trash shred mv gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4`,
)
/** Their last word is the target. Behind another option, or with one for links, all words count. */
const copiers = list('cp gcp install rsync scp')
/** Their second word, if any, is the output. */
const converters = list('uniq xxd json.tool')
/** They write in the folder where they run. */
const inFolder = list('patch unzip tar bsdtar gtar wget')

/** Options whose value is written. */
const outputs: Record<string, string> = {
  sort: '-o --output -T --temporary-directory',
  shuf: '-o --output',
  iconv: '-o --output',
  gpg: '-o --output --homedir',
  less: '-o -O --log-file --LOG-FILE',
  nc: '-o -x --output --hex-dump',
  ncat: '-o -x --output --hex-dump',
  rsync: '-T --temp-dir --log-file --backup-dir --partial-dir --write-batch --only-write-batch',
  pip: '-t --target --prefix --root --src --cache-dir --log --report -d --dest -w --wheel-dir',
  openssl: '-out -keyout -writerand -CAserial',
  curl: `-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts
    --alt-svc --libcurl --output-dir`,
  wget: `-O --output-document -o --output-file -a --append-output -P --directory-prefix
    --save-cookies --warc-file --rejected-log --hsts-file`,
}
outputs.pip3 = outputs.pip as string

const linking = '-s -l --link --symbolic-link -d --directory -t --target-directory'
const stream = /^(g?sed|[gmn]?awk|perl[\d.]*)$/

export function hasChanges(base: string): boolean {
  const lists = [writers, removers, copiers, converters, inFolder]
  const isListed = lists.some((one) => one.includes(base)) || Object.hasOwn(outputs, base)
  return isListed || stream.test(base) || ['git', 'dd', 'crontab', 'yq', 'ruby'].includes(base)
}

export function checkChanges(base: string, args: readonly string[], place: Place): void {
  if (!hasChanges(base)) return
  const uncertain = args.find((arg, i) => {
    const isText = base === 'git' && /^(-[a-z]*m|--message)$/.test(args[i - 1] ?? '')
    return arg[0] === anything && !isText && !args.slice(0, i).includes('--')
  })
  if (uncertain !== undefined && !/^(less|nc|ncat|perl.*)$/.test(base))
    throw unclear(base, uncertain)
  const write = (path: string) => {
    if (path !== '-' && path !== '') checkWrite(path, base, place, removers.includes(base))
  }
  if (base === 'git') checkGit(args, place)
  if (stream.test(base)) for (const path of checkStream(base, args)) write(path)
  if (base === 'crontab' && args.join(' ') !== '-l') write('/var/spool/cron/x')
  if (/^(yq|ruby)$/.test(base) && has(args, '-i --inplace')) throw unclear(base, '-i')
  if (base === 'dd') for (const arg of args) write(outputOfDd(arg))
  for (const path of optionValues(args, outputs[base] ?? '')) write(path)
  if (converters.includes(base)) for (const path of operandsOf(args).slice(1)) write(path)
  const inHere = base === 'curl' && has(args, '-O -J --remote-name --remote-header-name')
  if (inFolder.includes(base) || inHere) write('.')
  const all = writers.includes(base) || removers.includes(base)
  if (all) for (const path of wordsOf(args)) write(path)
  if (copiers.includes(base)) for (const path of copied(base, args)) write(path)
  if (base === 'ln' && args.some((arg) => arg.includes('..')) && args.at(-1)?.includes('/'))
    throw unclear(base, '..')
}

function outputOfDd(arg: string): string {
  if (arg.startsWith('of=')) return arg.slice('of='.length)
  if (/^(if|bs|count|skip|seek|conv|status|[io]flag)=/.test(arg)) return ''
  throw unclear('dd', arg)
}

/** Each word, and each value of an option that may be a path. */
function wordsOf(args: readonly string[]): string[] {
  const values = args.map((arg) => /^-.*?((?<==).*|[/~\uE000].*|\.\.?\/.*)$/s.exec(arg)?.[1] ?? '')
  return [...operandsOf(args), ...values]
}

function copied(base: string, args: readonly string[]): string[] {
  const [before = '', last = ''] = args.slice(-2)
  const isClear = !last.startsWith('-') && !/^-./.test(before.replace(/^--$/, ''))
  const isRemote = (path: string) => /^(rsync|scp)$/.test(base) && /^[^/]*:/.test(path)
  const isOdd = has(args, base === 'rsync' ? '' : linking) || has(args, '--remove-source-files')
  const targets = isClear && !isOdd ? operandsOf(args).slice(-1) : wordsOf(args)
  return targets.filter((path) => !isRemote(path))
}

// ── git: the subcommands that the guard knows, and the folder to which they write ──

/** They only read. */
const gitReaders =
  list(`status log show diff rev-parse ls-files ls-tree ls-remote blame grep describe
  cat-file shortlog rev-list version merge-base name-rev show-ref for-each-ref whatchanged
  check-ignore count-objects var diff-tree reflog`)
/** They write in the repository. */
const gitWriters =
  list(`add am apply bisect branch checkout cherry-pick clean commit config fetch gc lfs merge mv
  notes prune pull push rebase remote repack reset restore revert rm sparse-checkout stash submodule
  switch tag update-index update-ref`)
/** Their words may be folders or files that they write. */
const gitMakers = list('clone init worktree bundle archive format-patch')

/** The settings that a command may set: all others may name a command. */
const plainSetting =
  /^(user\.(name|email)|color\.\w+|core\.(quotepath|autocrlf|longpaths|filemode|pager=(cat|less)?$)|advice\.\w+|commit\.gpgsign|init\.defaultbranch|gc\.auto|pull\.(rebase|ff)|push\.\w+|safe\.directory|merge\.conflictstyle|diff\.(renames|algorithm)|log\.\w+|fetch\.prune)(=|$)/i

/** Options with which git runs another command, or writes elsewhere. */
const running = `--upload-pack --receive-pack --exec --ext-diff --textconv --open-files-in-pager
  --template --unsafe-paths --directory --build-fake-ancestor`
const ownRunning: Record<string, string> = {
  clone: '-u -c --config',
  fetch: '-u',
  pull: '-u',
  'ls-remote': '-u',
  archive: '-u',
  grep: '-O',
  rebase: '-x -i --interactive',
  config: '--global --system --worktree -f --file -e --edit',
}

function checkGit(args: readonly string[], place: Place): void {
  const folders: string[] = []
  let at = 0
  for (; args[at]?.startsWith('-'); at++) {
    const [arg = '', next = ''] = args.slice(at)
    if (arg === '-C') folders.push(next)
    const isPlain = /^(-C|-p|-P|--no-pager|--version)$/.test(arg)
    if (!isPlain && !(arg === '-c' && plainSetting.test(next))) throw unclear('git', arg)
    if (arg === '-C' || arg === '-c') at++
  }
  const [command, ...rest] = args.slice(at)
  if (command === undefined) return
  const words = rest.filter((arg) => !arg.startsWith('-'))
  const odd = rest.find((arg) => /^ext::|^(run|foreach)$/.test(arg))
  const isGet = command === 'config' && has(rest, '--get --get-all --get-regexp --list -l')
  const isSet = command === 'config' && !isGet && words.length > 1
  if (isSet && !plainSetting.test(words[0] ?? '')) throw unclear('git', `config ${words[0]}`)
  if (odd || has(rest, `${running} ${ownRunning[command] ?? ''}`))
    throw unclear('git', odd ?? `${command} ${rest.join(' ')}`)
  if (![...gitReaders, ...gitWriters, ...gitMakers].includes(command)) throw unclear('git', command)
  const isUrl = (arg: string) => command === 'clone' && /^\w+:\/\/|^[\w.-]+@[\w.-]+:/.test(arg)
  const outputs = optionValues(rest, '--output --output-directory --separate-git-dir')
  if (gitMakers.includes(command)) {
    const paths = words.filter((word) => !isUrl(word))
    outputs.push(...paths, ...optionValues(rest, '-o'))
    if (!paths.some((path) => path.startsWith('/'))) outputs.push(nameOf(words.find(isUrl) ?? '.'))
  } else if (gitWriters.includes(command) && !isGet) outputs.push('.')
  for (const path of outputs)
    checkWrite([...(path.startsWith('/') ? [] : folders), path].join('/'), 'git', place)
}
