// The variables that a command may set, and texts that Bash reads twice.
//
// A variable to which Bash, the loader or many programs give a meaning gets only
// a value that is harmless here. Any other variable of a program's environment gets a plain word.

import { Denial, notPlain, shown } from './denial.ts'
import { anything, isPlain, list } from './field.ts'
import { checkProjectFile, type Place } from './place.ts'

/** A command in a text that Bash reads a second time, even if quotes protected it at first. */
const command = /\$\(|`|\$\{/

export function checkReadTwice(text: string, what: string): void {
  if (!command.test(text)) return
  throw new Denial(
    'unseen-script',
    `${what} may read "${shown(text)}" a second time and run the command in it`,
    'Run the command where it stands, assign its output to a variable, and use a plain name or number here.',
  )
}

/** They name something that runs, a place of files, or how Bash splits and finds words. */
const naming =
  /^(LD_\w+|DYLD_\w+|\w*(PAGER|EDITOR|VISUAL|ASKPASS|BROWSER|_SSH|_COMMAND|_WRAPPER|_RSH)|LESS\w*|MORE|PERL5\w+|RUBY\w+|PYTHON(STARTUP|HOME|USERBASE|INSPECT)|NODE_(OPTIONS|V8_COVERAGE)|\w*LOGFILE|GCONV_PATH|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_(?!AUTHOR|COMMITTER|TERMINAL)\w+|TAR_OPTIONS|MAKE\w*|SHELL|BASH\w*|ENV|PS4|CDPATH|TMPDIR|IFS|PATH|HOME|GLOBIGNORE|EXECIGNORE|SHELLOPTS|FCEDIT|HIST\w+|INPUTRC|TZDIR|LOCPATH|XDG_\w+|(npm|NPM|pnpm|yarn|YARN|PIP|pip|CARGO|UV)_\w+|GO(FLAGS|BIN)|LUA_INIT\w*|RSYNC_\w+|RUSTC\w*|DOCKER_\w+|KUBECONFIG|AWS_\w+|CURL_HOME|WGETRC|\w*(CONFIG|OPTIONS)\w*)$/
const harmless =
  /^(:|cat|less|true|false|vi|vim|nano|[sc]cache|\d+|-[Rj]\d*|--(max-old-space-size=\d+|no-warnings|trace-warnings|enable-source-maps|experimental-vm-modules))$/
/** Folders of programs that a command cannot write, before the usual ones, and any after them. */
const longerPath =
  /^(?!.*\.\.)(PATH=)?"?(((\$HOME|\$\{HOME\}|~)\/\.[\w.-]+|\/usr|\/opt\/homebrew)[\w./-]*:)*(\$PATH|\$\{PATH\})(:[\w./$~-]+)*"?$/
/** A word that names no file and no option. */
export const plainValue = /^[\w.,:@%+=][\w.,:@%+=-]*$/
const placeOfModules = /^(PYTHONPATH|NODE_PATH|GOPATH|GOCACHE|PS[123])$/
const address = /^\w+:\/\/[\w.:@/?&=%+-]*$/

/** `source`: the value as it is written. `user`: the command for which the variable is set. */
export function checkSetting(name: string, text: string, source = '', user = ''): void {
  checkReadTwice(text, name)
  const isKnown =
    (name === 'PATH' && longerPath.test(source)) ||
    (name === 'IFS' && /^(read|mapfile|readarray)$/.test(user)) ||
    (name !== 'IFS' && isPlain(text) && list(text).every((word) => harmless.test(word)))
  if (naming.test(name) && !isKnown)
    throw notPlain(
      `${name} names something that runs later, a place of files, or how Bash reads words`,
      'Do not set it. Write the commands and paths where they are used.',
    )
}

/** A variable that programs get. */
export function checkExported(name: string, text: string, place: Place): void {
  if (/^(PYTHON|NODE_)PATH$/.test(name))
    for (const path of text.split(':'))
      if (path !== '' && path !== anything) checkProjectFile(path, name, place)
  if (naming.test(name) || placeOfModules.test(name) || text === '') return
  if (plainValue.test(text) || address.test(text) || /^GIT_(AUTHOR|COMMITTER)_/.test(name)) return
  throw notPlain(
    `programs may read ${name}, and "${shown(text)}" is not a plain word`,
    'Set it without a path and without blanks, or set it in a script of the project.',
  )
}
