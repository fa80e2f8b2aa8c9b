// A success that reports a failure: a short answer whose status member, HTTP status or first line
// states that the operation failed. Many services answer so with an HTTP status of 200.
//
// The call may look at a thing that failed: a job, a log, a test. Such a look did
// not fail. In doubt the answer reports no failure.
// A lookup without a hit is an answer.
// Linear in the beginning of the answer. Most answers fail the first test.

import { isObject, jsonIn } from '../../../shared/lib/json/json-object.ts'
import {
  commandIn,
  type Effect,
  isShell,
  isStatusTool,
  words,
  wordsOf,
} from '../evidence/effect.ts'
import { type FailureKind, failureKindOf, tellingLines } from '../evidence/failure-kind.ts'
import { sourceOf } from '../waiting/source.ts'
import { namesThing } from '../waiting/waiting.ts'
import { checkers } from './check.ts'

/** `error`: the words that state the failure, for its key. */
export type ReportedFailure = { kind: FailureKind; error: string }

/** `effect`: of the call, by its name and command. `text`: the result of a call that succeeded. */
export function reportedFailure(
  tool: string,
  value: unknown,
  { effect, text }: { effect: Effect; text: string },
): ReportedFailure | undefined {
  if (text.length > reportCharsMax || !hint.test(text)) return undefined
  const named = wordsOf(tool)
  const command = isShell(named) ? commandIn(value) : undefined
  const stated = statedIn(text.trim(), command !== undefined)
  if (stated === undefined) return undefined
  if (command === undefined) {
    if (named.some((word) => checks.has(word)) || isStatusTool(tool)) return undefined
    if (effect === 'reads' && sourceOf(tool, value, text) !== 'thing') return undefined
    // The status alone may be that of the thing.
    if (
      stated.sign === 'status' &&
      (effect === 'reads' || (effect === 'opaque' && namesThing(value)))
    )
      return undefined
  } else if (
    stated.sign === 'exit'
      ? effect === 'reads' || isCheck(command)
      : stated.sign !== 'shell' && !client.test(command)
  )
    return undefined
  const kind = failureKindOf(stated.error)
  return kind === 'miss' ? undefined : { kind, error: stated.error }
}

/** Longer answers are content. */
const reportCharsMax = 512
const hint =
  /error|fail|den(?:ied|y)|exhaust|exceeded|refuse|reject|forbid|unauthori|block|suspend|false|\b[45]\d\d\b|sh: |exit/i
/** Tools and programs whose answer is the state of something, with any words. */
const checks: ReadonlySet<string> = new Set([
  ...checkers,
  ...words('log logs tail cat read cmp diff nc is-active'),
])
/** `npx tsc`, `python3 -m pytest`, `cd app && npm run lint` */
const program = /(?:^|&&|;) *((?:[\w.=/-]+ +){0,3}[\w.=/-]+)/g

/** The exit code of a check is an answer. */
function isCheck(command: string): boolean {
  return [...command.matchAll(program)].some(([, first = '']) =>
    first.split(/ +/).some((word) => checks.has(word)),
  )
}

const client = /^\s*(?:curl|wget|http|https|xh)\b/

type Stated = { sign: 'status' | 'error' | 'shell' | 'exit'; error: string }

function statedIn(text: string, isOfCommand: boolean): Stated | undefined {
  if (text.startsWith('{')) {
    const json = jsonIn(text)
    if (!isObject(json)) return undefined
    const exit = isOfCommand ? (json.exit_code ?? json.exitCode ?? json.returncode) : undefined
    if (typeof exit !== 'number' || exit === 0) return statedInMembers(json, 0)
    const printed = [json.stderr, json.stdout, json.output].find((one) => one !== '') ?? ''
    return exited(typeof printed === 'string' ? tellingLines(printed) : '')
  }
  const line = text.split('\n', 1)[0] ?? ''
  if (isOfCommand && ofShell.test(line)) return { sign: 'shell', error: line }
  if (
    isOfCommand &&
    (exitCode.test(line) || exitCode.test(text.slice(text.lastIndexOf('\n') + 1)))
  ) {
    return exited(tellingLines(text))
  }
  return firstLine.test(line) ? { sign: 'error', error: line } : undefined
}

/** A code alone explains nothing. */
function exited(error: string): Stated | undefined {
  return error === '' ? undefined : { sign: 'exit', error }
}

/** A shell begins each error with its name. */
const ofShell = /^(?:\S{0,64}\/)?[\w.-]{0,64}sh: (?:(?:-c: )?line )?\d+: \S/
/** Hosts and build tools state it, with the answer of a program that looks as well. */
const exitCode =
  /\b(?:exit(?:ed)?(?: with)?|return(?:ed)?)[ _]?(?:code|status)?[ :=]{1,3}[1-9]\d{0,2}[)\].>]?\s*$/i
const firstLine =
  /^\W{0,4}(?:HTTP(?:\/[\d.]{1,3})? [45]\d\d\b|(?:status|status code|code):? [45]\d\d\b|(?:fatal )?(?:error|failed|failure|denied|exhausted|forbidden|unauthorized|rejected)\s*[:!.-]|(?:(?!you\b|he\b|she\b|it\b|they\b|the\b|your\b)[a-z]+ ){1,2}(?:failed|denied|rejected|refused|exhausted|exceeded)\s*(?:[:!.]|$))/i

function statedInMembers(json: Record<string, unknown>, depth: number): Stated | undefined {
  let sign: Stated['sign'] | undefined
  const words: string[] = []
  for (const [name, member] of Object.entries(json)) {
    const own = signOf(name, member)
    if (own === 'error' || (own === 'status' && sign === undefined)) sign = own
    if (own !== undefined || explains.test(name)) words.push(`${name}: ${wordsOfMember(member)}`)
  }
  if (sign !== undefined) {
    const isExplained = sign === 'error' || words.length > 1
    return { sign: isExplained ? 'error' : 'status', error: words.join('\n') }
  }
  if (depth > 0) return undefined
  const inner = Object.entries(json).find(
    ([name, member]) => envelope.test(name) && isObject(member),
  )?.[1]
  return isObject(inner) ? statedInMembers(inner, depth + 1) : undefined
}

function signOf(name: string, member: unknown): 'status' | 'error' | undefined {
  if (typeof member === 'number')
    return statusCode.test(name) && member >= 400 && member < 600 ? 'error' : undefined
  if (typeof member === 'boolean') {
    if (success.test(name)) return member ? undefined : 'error'
    return errorName.test(name) && member ? 'error' : undefined
  }
  if (typeof member === 'string') {
    if (status.test(name)) return failing.test(member.trim()) ? 'status' : undefined
    return errorName.test(name) && member.trim() !== '' ? 'error' : undefined
  }
  if (!errorName.test(name) || typeof member !== 'object' || member === null) return undefined
  return Object.keys(member).length > 0 ? 'error' : undefined
}

function wordsOfMember(member: unknown): string {
  return typeof member === 'object' ? JSON.stringify(member) : String(member)
}

const statusCode = /^(?:http_?)?(?:status|code)(?:_?code)?$/i
const success = /^(?:success|successful|ok)$/i
const errorName = /^(?:is_?)?errors?(?:_?(?:message|description))?$/i
const status = /^(?:status|state|result|outcome)$/i
const failing =
  /^(?:error|errored|failed|failure|denied|refused|rejected|exhausted|forbidden|unauthori[sz]ed|blocked|suspended)$/i
const explains = /^(?:message|msg|detail|details|reason|description|code|title)$/i
const envelope = /^(?:data|response|result|output)$/
