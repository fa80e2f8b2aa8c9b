// Texts that Bash or a program runs later: subscripts and arithmetic that Bash reads a second time,
// and variables that name a program or a place for files.

import { isPlain, list } from './field.ts'
import { checkWrite, type Place } from './place.ts'
import { isPlainProgram } from './programs.ts'
import { Refusal, shown } from './refusal.ts'

/** A command in a text that Bash reads a second time, even if quotes protected it at first. */
export const runsCommand = /\$\(|`|\$\{[\s|]/
const subscript = /\[[^\][]*(\$\(|`|\$\{[\s|])/

/** `pattern`: `runsCommand` for a text that is read twice as a whole. */
export function checkReadTwice(text: string, what: string, pattern = subscript): void {
  if (!pattern.test(text)) return
  throw new Refusal(
    'unseen-script',
    `${what} reads "${shown(text)}" a second time and would run the command in it`,
    'Run the command where it stands, assign its output to a variable, and use a plain name or number here.',
  )
}

const naming =
  /^(LD_(PRELOAD|AUDIT)|DYLD_\w+|\w*(PAGER|EDITOR|VISUAL|ASKPASS|BROWSER|_SSH|_COMMAND|_WRAPPER|_RSH)|LESSOPEN|LESSCLOSE|PERL5OPT|RUBYOPT|PYTHONSTARTUP|NODE_OPTIONS|JAVA_TOOL_OPTIONS|GIT_EXTERNAL_DIFF|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_CONFIG\w*|TAR_OPTIONS|MAKEFLAGS|MAKEFILES|SHELL)$/
const harmless =
  /^(:|cat|less|more|true|false|vi|vim|nano|[sc]cache|\d+|-j\d*|--(max-old-space-size=\d+|no-warnings|trace-warnings|enable-source-maps|experimental-vm-modules))$/

/** Files and folders in which git writes. */
const written =
  /^GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|SHALLOW_FILE|GRAFT_FILE|TRACE\w*)$/
/** Of a trace: off, or an open file. */
const notTraced = /^(\d|true|false)?$/i

/** Refuses a place for files of git that is not allowed. */
function checkGitPlace(name: string, text: string, place: Place): void {
  if (name.startsWith('GIT_TRACE') && notTraced.test(text)) return
  const path = text.replace(/^af_unix:(stream:|dgram:)?/, '')
  // From another folder, or from the top of the repository, it leads elsewhere.
  const climbs = path.split('/').includes('..') && !path.startsWith('/')
  const state = climbs ? { ...place.state, folders: undefined } : place.state
  if (path !== '') checkWrite(path, name, { ...place, state })
}

/** `command`: the setting holds for this command only. */
export function checkSetting(name: string, text: string, place: Place, command = ''): void {
  checkReadTwice(text, `arithmetic with ${shown(name)}`)
  if (name === 'CDPATH' && text !== '' && !isPlainProgram(command))
    throw new Refusal('unknowable', 'CDPATH changes where cd leads', 'Use cd with a path.')
  if (name === 'TMPDIR' && text !== '' && !isPlainProgram(command)) checkWrite(text, name, place)
  if (written.test(name)) checkGitPlace(name, text, place)
  const isRun =
    name === 'BASH_ENV' || name === 'PROMPT_COMMAND'
      ? text !== ''
      : name === 'LESS' || name === 'MORE'
        ? /[+\uE000]/.test(text)
        : /^PS[0-4]$/.test(name) && (runsCommand.test(text) || (name === 'PS4' && !isPlain(text)))
  if (isRun || (naming.test(name) && !list(text).every((word) => harmless.test(word))))
    throw new Refusal(
      'unseen-script',
      `${shown(name)} names something that runs later`,
      'Do not set it; write the commands where they shall run.',
    )
}
