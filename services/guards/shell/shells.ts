// Shells and interpreters: the source of their script, and whether it can be judged.

import { both, inherited, type Outcome } from './environment.ts'
import { isFromNet, isPipe, isPlain } from './field.ts'
import { deeper, type Place, wasFetched } from './place.ts'
import { Refusal, shown } from './refusal.ts'

const standardInput = /^(-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/

/** `bash -c SCRIPT`, `bash FILE`, `… | bash`. */
export function judgeShell(name: string, args: readonly string[], place: Place): Outcome {
  const { script, file } = shellArguments(name, args)
  if (script !== undefined) runScript(script, name, place)
  else if (file !== undefined && !standardInput.test(file)) checkFile(file, name, place)
  else judgeInput(name, place)
  return both(place.environment)
}

/** A script in the same shell: eval, trap. */
export function runHere(script: string, name: string, place: Place): Outcome {
  checkKnown(script, name)
  return place.walk.text(script, deeper(place))
}

/**
 * A script in a new shell. It gets only exported variables, so all are unknown except those that
 * change its commands.
 */
function runScript(script: string, name: string, place: Place): void {
  checkKnown(script, name)
  const inner = deeper(place)
  const hasHome = place.environment.variables.has('HOME')
  const passedOn = [...place.environment.variables].filter(([variable]) =>
    inherited.includes(variable),
  )
  place.walk.text(script, {
    ...inner,
    home: hasHome ? undefined : inner.home,
    environment: { ...inner.environment, variables: new Map(passedOn) },
    leaps: [],
  })
}

function checkKnown(script: string, name: string): void {
  if (isPlain(script)) return
  if (isFromNet(script)) throw fromNet(name)
  throw new Refusal(
    'unseen-script',
    `${name} runs a script of which "${shown(script)}" is only known when it runs`,
    'Write the commands out, without a shell around them; single quotes keep variables for the inner shell.',
  )
}

function shellArguments(name: string, args: readonly string[]): { script?: string; file?: string } {
  let isCommand = false
  let i = 0
  for (; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '--' || arg === '-') {
      i++
      break
    }
    if (/^[-+]/.test(arg) && !isPlain(arg)) throw unknownArgument(arg, name)
    if (arg.startsWith('--')) {
      if (['--rcfile', '--init-file', '--init-command', '--command'].includes(arg))
        throw unknownArgument(arg, name)
    } else if (/^[-+]./.test(arg)) {
      if (arg.startsWith('-') && arg.includes('c')) isCommand = true
      if (arg.startsWith('-') && arg.includes('s')) return {}
      if (/[oO]/.test(arg)) i++
    } else break
  }
  const operand = args[i]
  if (isCommand) {
    if (operand === undefined) return {}
    return { script: operand }
  }
  return operand === undefined ? {} : { file: operand }
}

function unknownArgument(arg: string, name: string): Refusal {
  return new Refusal(
    'unseen-script',
    `what ${name} runs cannot be told with "${shown(arg)}"`,
    `Give ${name} its script as -c 'COMMANDS'.`,
  )
}

/**
 * A script in a file is not visible. It must not run if it was just fetched, or if its name is
 * unknown.
 */
function checkFile(file: string, name: string, place: Place): void {
  if (isFromNet(file) || wasFetched(file, place)) throw fromNet(name)
  if (isPipe(file)) throw unseen(name)
  if (!isPlain(file))
    throw new Refusal(
      'unseen-script',
      `${name} runs a script whose name, "${shown(file)}", is only known when it runs`,
      'Write the name of the script out.',
    )
}

function judgeInput(name: string, place: Place): void {
  switch (place.input.kind) {
    case 'net':
      throw fromNet(name)
    case 'pipe':
      throw unseen(name)
    case 'file':
      return checkFile(place.input.path, name, place)
    case 'text':
      return runScript(place.input.text, name, { ...place, input: { kind: 'nothing' } })
    case 'nothing':
      return
  }
}

function fromNet(name: string): Refusal {
  return new Refusal(
    'net-into-shell',
    `${name} would run what comes from the net`,
    'Save what you fetch to a file and read it; then run the commands of it that you need.',
  )
}

function unseen(name: string): Refusal {
  return new Refusal(
    'unseen-script',
    `${name} would run what another command prints, which cannot be seen beforehand`,
    'Write the commands out, or run a script file by its name.',
  )
}

/** Options that give an interpreter its program, or only query it. Its input is then data. */
const program =
  /^(-[a-zA-Z0-9]*[ceErmpVhv]|--(eval|print|execute|command|version|help|check|require|test|build)(=.*)?|-(un|to|ne|pe|le|lne|lpe|ane)?e)$/

/** `python FILE`, `… | python -`. The program itself is not judged, because it is no shell. */
export function judgeInterpreter(name: string, args: readonly string[], place: Place): void {
  if (args.some((arg) => program.test(arg))) return checkProgram(name, args)
  const file = args.find((arg) => !arg.startsWith('-') || arg === '-')
  if (file === undefined || standardInput.test(file)) {
    if (place.input.kind === 'net') throw fromNet(name)
    if (place.input.kind === 'pipe') throw unseen(name)
    if (place.input.kind === 'text' && isFromNet(place.input.text)) throw fromNet(name)
    if (place.input.kind === 'file' && wasFetched(place.input.path, place)) throw fromNet(name)
    return
  }
  if (
    args.some((arg) => isFromNet(arg) || wasFetched(arg, place)) ||
    (name === 'deno' && args.some((arg) => /^https?:/.test(arg)))
  )
    throw fromNet(name)
  if (isPipe(file)) throw unseen(name)
}

function checkProgram(name: string, args: readonly string[]): void {
  if (args.some(isFromNet)) throw fromNet(name)
}
