// Whether a call waits for something that runs elsewhere: a process, a job, a run, another agent.
// Waiting is no loop. Its patience has its own rule (still-waiting.ts).
//
// A call waits if its answer states that the thing still runs, or if its declaration
// states that it polls. It also waits if its input to a running session is empty or names a wait.
// A failure is no wait, and no answer that says that the thing is over, gone or refused.
// Neither is an action that reports that it was queued.
// An empty answer is a wait only if the call has an id that an earlier call returned, such
// as the path of an output file. An input without an id needs an earlier answer that something runs.
// The text of a document, a search, a list of names or the call itself is no statement of a
// thing that runs (source.ts).

import { isObject } from '../../../shared/lib/json/json-object.ts'
import { pathName, sourceOf } from './source.ts'
import { type Progress, progressOf } from './waiting-answer.ts'

/**
 * `own`: the call itself or its declaration says that it waits. `answer`: only its answer does.
 * `unknown`: its answer is empty, so it waits if an earlier call returned one of these ids.
 */
export type Wait = { kind: 'no' | 'own' | 'answer' } | { kind: 'unknown'; ids: string[] }

/** Stands for a thing that runs and has no id: the command of a terminal. */
export const unnamed = 'the running command'

const no: Wait = { kind: 'no' }
const own: Wait = { kind: 'own' }
const byAnswer: Wait = { kind: 'answer' }

/** The progress that the answer of a successful call states. */
export function progressIn(value: unknown, text: string): Progress {
  return progressOf(text, hasCommand(value))
}

/**
 * `progress`: of its answer; `over` for a failure. `isPoller`: its declaration. `looks`: whether
 * it may be a look at something, and no action.
 */
export function waitOf(
  tool: string,
  value: unknown,
  {
    progress,
    text,
    isPoller,
    looks,
  }: { progress: Progress; text: string; isPoller: boolean; looks: () => boolean },
): Wait {
  if (progress === 'over' || sendsInput(value)) return no
  if (isPoller || namesWait(value)) return own
  if (waitsByInput(value) && progress !== 'empty') return own
  if (progress === 'other' || !looks()) return no
  const source = sourceOf(tool, value, text)
  if (progress === 'running' && source === 'thing') return byAnswer
  if (source === 'names') return no
  const ids = [...idsIn(value), ...pathsIn(value)]
  if (ids.length === 0 && isInputEmpty(value)) return { kind: 'unknown', ids: [unnamed] }
  return ids.length > 0 ? { kind: 'unknown', ids } : no
}

// ── The input of a call ──

/** Members that a session reads as input. */
const inputs = new Set(['chars', 'keys', 'keystrokes', 'stdin', 'input'])
/** Members that start something. A call with one of them does not wait by its other members. */
const commands = new Set(['command', 'cmd', 'script', 'code', 'url', 'query', 'prompt', 'message'])
const sessionName =
  /^(?:(?:\w{0,16}[_-]?)?(?:session|shell|bash|process|proc|terminal|exec|execution|job|task|run|agent|cell|build|operation|workflow|deployment)s?[_-]?(?:ids?|name)?|p?id)$/i
const waitName =
  /^(?:delay|wait(?:[_-]?(?:for|time(?:out)?|until|up_?to|completion))?)(?:[_-]?(?:ms|sec(?:ond)?s?))?$/i

function hasCommand(value: unknown): boolean {
  if (!isObject(value)) return false
  for (const name in value) if (commands.has(name) && !isBlank(value[name])) return true
  return false
}

/** It sends an input to a session, so it does something. */
function sendsInput(value: unknown): boolean {
  if (!isObject(value)) return false
  for (const name in value) if (inputs.has(name) && !isBlank(value[name])) return true
  return false
}

/** Such a call of a tool that takes input looks at an earlier command. */
export function isInputEmpty(value: unknown): boolean {
  if (!isObject(value)) return false
  for (const name in value)
    if ((inputs.has(name) || commands.has(name)) && isBlank(value[name])) return true
  return false
}

/** Its input to a running session is empty, or names its own wait. */
export function waitsByInput(value: unknown): boolean {
  return namesWait(value) || (isInputEmpty(value) && looksAtSession(value))
}

/** It names its own wait for a running session. */
export function namesWait(value: unknown): boolean {
  if (!isObject(value)) return false
  for (const name in value) if (isWaitMember(name, value[name])) return looksAtSession(value)
  return false // nearly always
}

/** It names a session or has an empty input for one, and no command. */
export function looksAtSession(value: unknown): boolean {
  if (!isObject(value) || hasCommand(value) || sendsInput(value)) return false
  return isTrue(value.is_input) || idsIn(value).length > 0
}

function isWaitMember(name: string, member: unknown): boolean {
  if (name === 'yield_time_ms') return typeof member === 'number' && member > 0
  if (name === 'block') return isTrue(member)
  return (isTrue(member) || (typeof member === 'number' && member > 0)) && waitName.test(name)
}

function idsIn(value: unknown): string[] {
  if (!isObject(value)) return []
  const ids: string[] = []
  for (const name in value)
    if (isIdValue(value[name]) && sessionName.test(name)) ids.push(String(value[name]))
  return ids
}

const pathsMax = 8
const pathTextCharsMax = 4_096

/** `/tmp/tasks/b7f41c.output` holds the output of the task `b7f41c`. */
const fileOfId = /\/([\w-]{4,64})\.\w{1,16}$/

/** The absolute paths in the arguments (of a member, or words of a command), and ids in them. */
function pathsIn(value: unknown): string[] {
  if (!isObject(value)) return []
  const paths = Object.entries(value).flatMap(([name, member]) => {
    if (typeof member !== 'string' || member.length > pathTextCharsMax) return []
    if (pathName.test(name)) return [member]
    return commands.has(name) ? member.split(/[\s'";|&<>()]+/).filter(isAbsolute) : []
  })
  return paths.slice(0, pathsMax).flatMap((path) => {
    const id = fileOfId.exec(path)?.[1]
    return id === undefined ? [path] : [path, id]
  })
}

function isAbsolute(word: string): boolean {
  return word.startsWith('/') && word.length > 1
}

/** Whether one of the arguments names a thing: a session, a job, an id. */
export function namesThing(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.keys(value).some((name) => sessionName.test(name) || /id$/i.test(name))
  )
}

function isIdValue(member: unknown): boolean {
  return (
    typeof member === 'number' ||
    typeof member === 'bigint' ||
    (typeof member === 'string' && member.trim() !== '')
  )
}

function isTrue(member: unknown): boolean {
  return member === true || member === 'true'
}

function isBlank(member: unknown): boolean {
  if (Array.isArray(member)) return member.length === 0
  return (
    member === null || member === undefined || (typeof member === 'string' && member.trim() === '')
  )
}
