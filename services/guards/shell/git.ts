// git: the subcommands that the guard knows, and the folder to which they write.

import { has, optionValues } from './command-line.ts'
import { list, nameOf } from './field.ts'
import { checkWrite, type Place } from './place.ts'
import { unclear } from './refusal.ts'

/** They only read. */
const readers = list(`status log show diff rev-parse ls-files ls-tree ls-remote blame grep describe
  cat-file shortlog rev-list version merge-base name-rev show-ref for-each-ref whatchanged
  check-ignore count-objects var diff-tree reflog`)
/** They write in the repository. */
const writers =
  list(`add am apply bisect branch checkout cherry-pick clean commit fetch gc lfs merge mv
  notes prune pull push rebase remote repack reset restore revert rm sparse-checkout stash submodule
  switch tag update-index update-ref`)
/** Their words may be folders or files that they write. */
const makers = list('clone init worktree bundle archive format-patch')

/** The settings that a command may set: all others may name a command. */
const plainSetting =
  /^(user\.(name|email)|color\.\w+|core\.(quotepath|autocrlf|longpaths|filemode|pager=(cat|less)?$)|advice\.\w+|commit\.gpgsign|init\.defaultbranch|http\.(postbuffer|lowspeed\w+)|gc\.auto|pull\.(rebase|ff)|push\.\w+|safe\.directory|merge\.conflictstyle|diff\.(renames|algorithm)|log\.\w+|fetch\.prune)(=|$)/i

export function checkGit(args: readonly string[], place: Place): void {
  const folders: string[] = []
  const roots: string[] = []
  let at = 0
  for (; args[at]?.startsWith('-'); at++) {
    const arg = args[at] as string
    const next = args[at + 1] ?? ''
    if (/^(-C|--git-dir|--work-tree|-c)$/.test(arg)) at++
    if (arg === '-C') folders.push(next)
    else if (/^--(git-dir|work-tree)$/.test(arg)) roots.push(next)
    else if (/^--(git-dir|work-tree)=/.test(arg)) roots.push(arg.slice(arg.indexOf('=') + 1))
    else if (arg === '-c' ? !plainSetting.test(next) : !/^(-p|-P|--no-pager|--version)$/.test(arg))
      throw unclear('git', arg === '-c' ? `-c ${next}` : arg)
  }
  const [command, ...rest] = args.slice(at)
  if (command === undefined) return
  checkRunning(command, rest)
  const write = (path: string) => {
    for (const one of [...roots, path])
      checkWrite([...(one.startsWith('/') ? [] : folders), one].join('/'), 'git', place)
  }
  const isUrl = (arg: string) => command === 'clone' && /^\w+:\/\/|^[\w.-]+@[\w.-]+:/.test(arg)
  const words = rest.filter((arg) => !arg.startsWith('-') && !isUrl(arg))
  for (const path of optionValues(rest, '--output --output-directory --separate-git-dir'))
    write(path)
  if (/^(am|apply)$/.test(command)) checkPatch(command, rest, write)
  if (command === 'config') return checkConfig(rest, write)
  if (/^(verify|list-heads)$/.test(rest[0] ?? '') && command === 'bundle') return
  if (makers.includes(command)) {
    for (const path of [...words, ...optionValues(rest, '-o')]) write(path)
    const url = rest.findLast(isUrl) ?? ''
    if (!words.some((path) => path.startsWith('/'))) write(nameOf(url) || '.')
  } else if (writers.includes(command)) write('.')
  else if (!readers.includes(command)) throw unclear('git', command)
}

/** Refuses a patch that writes elsewhere. The paths in it stay below the working folder. */
function checkPatch(command: string, rest: readonly string[], write: (path: string) => void): void {
  if (has(rest, '--unsafe-paths')) throw unclear('git', `${command} --unsafe-paths`)
  for (const path of optionValues(rest, '--directory --build-fake-ancestor')) {
    // It begins at the top of the repository, which may be above the folder of the shell.
    if (path.split('/').includes('..')) throw unclear('git', `${command} --directory ${path}`)
    write(path)
  }
}

/** Refuses options and words with which git runs another command or an editor. */
function checkRunning(command: string, rest: readonly string[]): void {
  const runs = `--upload-pack --receive-pack --exec --ext-diff --textconv --open-files-in-pager
    --template ${/^(clone|fetch|pull|ls-remote|archive)$/.test(command) ? '-u' : ''}
    ${command === 'grep' ? '-O' : ''} ${command === 'rebase' ? '-x -i --interactive' : ''}
    ${command === 'clone' ? '-c --config' : ''}`
  const odd = rest.find((arg) => /^ext::|^(run|foreach)$/.test(arg))
  if (odd !== undefined || has(rest, runs))
    throw unclear('git', odd ?? `${command} ${rest.join(' ')}`)
}

function checkConfig(rest: readonly string[], write: (path: string) => void): void {
  if (rest.some((arg) => /^(--get(-all|-regexp)?|--list|-l)$/.test(arg))) return
  const [name = '', value, ...more] = rest.filter((arg) => arg !== '--local')
  if (value === undefined && !name.startsWith('-') && name !== 'edit') return
  if (more.length > 0 || !plainSetting.test(name) || rest.includes('--global'))
    throw unclear('git', `config ${name}`)
  write('.')
}
