// The shell guard: parses the command of a call, and refuses forbidden commands and those that it
// cannot judge.
// Owns: finding the command in a call's arguments, and the verdict.
// Does not own: the effect of a command (script.ts and its imports).
//
// A command passes only if all of it is readable, and each program, option and operand
// is known. Otherwise it is refused, or a person decides (`onUnknown`).
// `judge` never throws, and its work grows with the command's length: commands,
// loops and nested scripts are counted (place.ts).
// It judges the text of a command. It sees neither a program's code nor the disk
// (limits: README.md).

import type { Guard, GuardedCall, Verdict } from '../../../shared/contract/guard/guard.ts'
import { judgeCommand } from './command.ts'
import { Denial, type DenialCode } from './denial.ts'
import { isPlain, resolved } from './field.ts'
import { type ShellGuardOptions, type ShellRules, shellRules } from './options.ts'
import type { Place } from './place.ts'
import { walkText } from './script.ts'

const version = '5'
/** A person may judge these. All others break a rule. */
const forPerson: DenialCode[] = ['unlisted', 'unknowable', 'not-plain', 'unseen-script']
const commandMax = 128 * 1024

/** Throws a WeirError (settings.invalid) for unusable options. */
export default function shellGuard(options: ShellGuardOptions): Guard<undefined> {
  const rules = shellRules(options)
  return {
    name: options.name ?? 'shell',
    version,
    tools: options.tools,
    deadlineMs: options.deadlineMs ?? 1_000,
    onTimeout: 'deny',
    judge: (_, { calls }) => ({
      state: undefined,
      verdicts: calls.map((call) => verdictOn(call, rules)),
    }),
  }
}

function verdictOn(call: GuardedCall, rules: ShellRules): Verdict {
  const { ordinal } = call
  try {
    judgeArguments(call, rules)
    return { ordinal, verdict: 'allow' }
  } catch (error) {
    const denial = error instanceof Denial ? error : unjudged(error)
    const text = `${denial.message}. ${denial.advice}`
    return {
      ordinal,
      verdict: forPerson.includes(denial.code) ? rules.onUnknown : 'deny',
      code: `shell.${denial.code}`,
      text: text.slice(0, 1_500),
      evidence: denial.message.slice(0, 500),
    }
  }
}

/** A bug of ours, or nesting that exceeds our stack. Either way the command was not judged. */
function unjudged(error: unknown): Denial {
  const what =
    error instanceof RangeError ? 'it is nested too deep to be judged' : 'it could not be judged'
  return new Denial('unknowable', what, 'Split it into several simple commands.')
}

function judgeArguments({ arguments: args }: GuardedCall, rules: ShellRules): void {
  const command = Object.hasOwn(args, rules.argument) ? args[rules.argument] : undefined
  const words = Array.isArray(command) ? command : [command]
  if (words.length === 0 || !words.every((word) => typeof word === 'string'))
    throw new Denial(
      'unreadable',
      `the argument "${rules.argument}" holds no command`,
      `Send the command as a text in "${rules.argument}".`,
    )
  for (const text of words) checkText(text)
  const [text] = words
  if (Array.isArray(command)) judgeCommand(words, start(args, rules))
  else if (text !== undefined) walkText(text, start(args, rules))
}

function checkText(command: string): void {
  if (command.length > commandMax)
    throw new Denial('unknowable', 'it is too long', 'Write long texts to files with another tool.')
  if (command.includes('\0') || !isPlain(command) || !command.isWellFormed())
    throw new Denial(
      'unreadable',
      'it has characters that no command needs',
      'Leave out NUL and characters of private use.',
    )
}

function start(args: GuardedCall['arguments'], rules: ShellRules): Place {
  const home: [string, string][] = rules.home === undefined ? [] : [['HOME', rules.home]]
  return {
    rules,
    facts: { folders: startFolder(args, rules), variables: new Map(home) },
    isCertain: true,
    input: { kind: 'nothing' },
    isRead: false,
    depth: 0,
    whole: {
      steps: 0,
      named: new Set(),
      net: false,
      unnamed: false,
      hasLinkUp: false,
      hasFetchedRules: false,
      moved: undefined,
      printed: '',
    },
    walk: walkText,
    judge: judgeCommand,
  }
}

function startFolder(
  args: GuardedCall['arguments'],
  { folderArgument, workingFolder }: ShellRules,
): string[] | undefined {
  const isNamed = folderArgument !== undefined && Object.hasOwn(args, folderArgument)
  const folder = (isNamed ? args[folderArgument] : undefined) ?? ''
  if (typeof folder !== 'string' || !isPlain(folder) || /[~$*?]/.test(folder)) return undefined
  const path = folder === '' ? workingFolder : resolved(folder, workingFolder)
  return path === undefined ? undefined : [path]
}
