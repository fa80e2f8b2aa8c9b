// git: the repository that it writes to, and the options with which it runs other commands.

import { type Changes, commandLine, has, valuesOf } from './command-line.ts'
import { anything, list } from './field.ts'
import { nameOf } from './paths.ts'

/** They only read, and change nothing except as a side effect. */
const readers = list(`status log show diff rev-parse ls-files ls-tree ls-remote blame grep describe
  cat-file shortlog rev-list help version merge-base name-rev show-ref for-each-ref whatchanged
  check-ignore count-objects var diff-tree`)
/** They run other commands by design. */
const runners = list('filter-branch difftool mergetool daemon instaweb send-email web--browse help')
const fetchers = list('clone fetch pull push ls-remote fetch-pack send-pack archive remote')

/** The settings that `-c` may set: all others may name a command. */
const plainSetting =
  /^(user\.(name|email)|color\.\w+|core\.(quotepath|autocrlf|longpaths|filemode|pager=(cat|less)?$)|advice\.\w+|commit\.gpgsign|init\.defaultbranch|http\.(postbuffer|lowspeed\w+)|gc\.auto|pull\.(rebase|ff)|push\.\w+|safe\.directory|merge\.conflictstyle|diff\.(renames|algorithm)|log\.\w+|fetch\.prune)(=|$)/i

/** Throws no refusal: `unknowable` has the reason. */
export function gitChanges(args: readonly string[]): Changes {
  const head = commandLine(
    args,
    '-C -c --git-dir --work-tree --namespace --exec-path --config-env',
    true,
  )
  const [command, ...rest] = head.operands
  if (head.uncertain !== undefined) return { uncertain: head.uncertain }
  if (
    has(head, '--exec-path --config-env') ||
    !valuesOf(head, '-c').every((one) => plainSetting.test(one))
  )
    return { unknowable: 'a setting or --exec-path may run a command' }
  if (command === undefined) return {}
  const isMessage = /^(commit|tag|merge|stash|notes)$/.test(command)
  const line = commandLine(
    rest,
    `-o --output --export-marks -b --branch --depth --origin --file -f --output-directory --separate-git-dir
     --template -c --config -m --message -C -S -G -L -n ${isMessage ? '-F --author --date' : ''}`,
  )
  const runs = `--upload-pack --receive-pack --exec -x --ext-diff --textconv --open-files-in-pager
    --template ${fetchers.includes(command) && command !== 'push' ? '-u' : ''} ${command === 'grep' ? '-O' : ''}
    ${command === 'rebase' ? '-i --interactive' : ''}`
  const isClean = command === 'clean' || command === 'cherry-pick'
  const named = line.options.find(
    ({ name }) => list(runs).includes(name) && !(isClean && name === '-x'),
  )
  if (named || runners.includes(command) || ['run', 'foreach'].includes(line.operands[0] ?? ''))
    return { unknowable: `git ${command} ${named?.name ?? ''} runs another command or an editor` }
  if (line.operands.some((operand) => /^ext::|^-/.test(operand)))
    return { unknowable: 'an ext:: address runs a command' }

  const folders = valuesOf(head, '-C')
  const below = (path: string) =>
    folders.length === 0 || path.startsWith('/') ? path : `${folders.join('/')}/${path}`
  const outputs = valuesOf(
    line,
    '--output --output-directory --separate-git-dir --export-marks',
  ).map(below)
  const places = [...folders, ...valuesOf(head, '--git-dir --work-tree')]
  const { uncertain, operands } = line
  const [first, second] = operands
  if (readers.includes(command)) return { writes: outputs }
  switch (command) {
    case 'clone': {
      if (!valuesOf(line, '-c --config').every((one) => plainSetting.test(one)))
        return { unknowable: 'a setting of -c may run a command' }
      const own = nameOf((first ?? anything).replace(/\/+$/, '')).replace(/\.git$/, '')
      return { uncertain, writes: [...outputs, below(second ?? own)] }
    }
    case 'init':
      return { uncertain, writes: [...outputs, below(first ?? '.')] }
    case 'config': {
      const reads =
        has(line, '--get --get-all --get-regexp --list -l') || /^(get|list)$/.test(first ?? '')
      const isQuestion = second === undefined && first !== 'edit' && !has(line, '--unset --edit -e')
      if (reads || isQuestion) return {}
      const name = /^(set|unset)$/.test(first ?? '') ? second : first
      if (has(line, '--global --system') || !plainSetting.test(name ?? ''))
        return {
          unknowable: 'it changes the settings of every repository, or one that may run a command',
        }
      return { writes: [...valuesOf(line, '-f --file'), '.'].map(below) }
    }
    case 'worktree':
      return {
        uncertain,
        writes: [...places, below('.'), ...(first === 'add' && second ? [below(second)] : [])],
      }
    case 'bundle':
      return { uncertain, writes: first === 'create' ? [below(second ?? '.')] : [below('.')] }
    case 'pack-objects':
      return { uncertain, writes: [below(first ?? '.')] }
    case 'checkout-index':
      return { uncertain, writes: [below('.'), ...valuesOf(line, '--prefix').map(below)] }
    case 'archive':
    case 'format-patch':
    case 'bugreport':
    case 'diagnose':
    case 'mailsplit':
    case 'index-pack':
      return { uncertain, writes: [...outputs, ...valuesOf(line, '-o').map(below)] }
    default:
      return { writes: [...outputs, ...(places.length > 0 ? places : ['.'])] }
  }
}
