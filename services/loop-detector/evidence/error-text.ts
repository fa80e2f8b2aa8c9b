// The text of a failure that identifies it. The short reason is one line, and that line may be the
// same for every error of a tool. Then the first line that names an error is added.
//
// The short reason counts first. A denial, a veto and a timeout have nothing else.
// JSON is read as its texts, numbers and marks. An exit code in it explains nothing.
// Linear in the beginning of the result, because output of tools is untrusted.

import { limits } from '../../../shared/contract/limits.ts'
import type { CallResult } from '../../../shared/contract/messages.ts'
import { isObject, jsonIn } from '../../../shared/lib/json/json-object.ts'
import { type FailureKind, failureKindOf, isBare, tellingLines } from './failure-kind.ts'

/** The text of a failed call that decides its key, and the kind of the failure by this text. */
export function errorOf({
  status,
  reason,
  text,
}: Pick<CallResult, 'status' | 'reason' | 'text'>): ErrorText {
  if (status !== 'error') return withKind(reason)
  const head = text.slice(0, limits.loopMaskedCharsMax)
  const json = jsonAt(reason, head)
  if (json !== undefined) return withKind(telling(linesOf(json)))
  const kind = failureKindOf(reason)
  if (kind === 'bare') return withKind(tellingLines(text))
  const goesOn = reason.endsWith(':')
  if (kind !== 'other' && !goesOn) return { error: reason, kind }
  if (namesError(reason))
    return goesOn ? withKind(withNextLine(reason, head)) : { error: reason, kind }
  return kind === 'other' ? withKind(withNamingLine(reason, head)) : { error: reason, kind }
}

/** `error` is empty if the failure gives no reason. */
export type ErrorText = { error: string; kind: FailureKind }

function withKind(error: string): ErrorText {
  return { error, kind: failureKindOf(error) }
}

/** The JSON of which the reason is the beginning or the whole. */
function jsonAt(reason: string, text: string): object | undefined {
  if (!/^\s*[[{]/.test(reason)) return undefined
  const at = text.indexOf(reason.slice(0, quotedCharsMin))
  const rest = at < 0 ? reason : text.slice(at)
  const line = rest.split('\n', 1)[0] ?? ''
  const end = Math.max(rest.lastIndexOf('}'), rest.lastIndexOf(']')) + 1
  return parsed(reason) ?? parsed(line) ?? parsed(rest.slice(0, end))
}

/** A reason is on one line and bounded, so only its beginning is certain to be in the text. */
const quotedCharsMin = 16

function parsed(text: string): object | undefined {
  const value = jsonIn(text)
  return typeof value === 'object' && value !== null ? value : undefined
}

/** The lines of the members that hold errors, with the status, otherwise of all members. */
function linesOf(json: object): string[] {
  const errors = errorLinesIn(json, 0)
  if (errors.every(isBare)) return linesIn(json, '', 0)
  const statuses = Object.entries(json).filter(([name]) => /^(?:status|code)/i.test(name))
  return [...statuses.flatMap(([name, status]) => linesIn(status, name, 0)), ...errors]
}

function errorLinesIn(value: object, depth: number): string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (isErrorMember(name)) return linesIn(member, name, depth + 1)
    return typeof member === 'object' && member !== null && depth < 3
      ? errorLinesIn(member, depth + 1)
      : []
  })
}

/** Not `stderr`, which may hold the same warning for every error. */
function isErrorMember(name: string): boolean {
  return /^(?:errors?|error_?(?:message|description)|message|msg|detail|details|exception)$/i.test(
    name,
  )
}

/** The lines of all texts. Numbers and marks that are true have their name before them. */
function linesIn(value: unknown, name: string, depth: number): string[] {
  if (typeof value === 'string') return value.split('\n').filter((line) => line.trim() !== '')
  if (typeof value === 'number') return isExitCode(name, value) ? [] : [`${name}: ${value}`]
  if (value === true) return [`${name}: true`]
  if (depth > limits.argumentDepthMax) return []
  if (Array.isArray(value)) return value.flatMap((item) => linesIn(item, name, depth + 1))
  return isObject(value)
    ? Object.entries(value).flatMap(([key, member]) => linesIn(member, key, depth + 1))
    : []
}

/** No status of HTTP is below 200 in an error. */
function isExitCode(name: string, value: number): boolean {
  return value < 200 && /^(?:exit|return|rc|code|status)/i.test(name)
}

/** The lines that explain something, and the first one that names an error, if it is not in them. */
function telling(lines: string[]): string {
  const all = lines.filter((line) => !isBare(line))
  const head = all.join('\n').slice(0, limits.reasonBytesMax)
  const naming = namesError(head) ? undefined : all.find(namesError)
  return naming === undefined ? head : `${head}\n${bounded(naming)}`
}

function withNamingLine(reason: string, text: string): string {
  const lines = text.split('\n')
  const first = lines.findIndex(namesError)
  // A program may give a code first and its meaning in the next line.
  const telling = first < 0 || !errorWord.test(lines[first] ?? '') ? -1 : meaningAfter(lines, first)
  const at = telling < 0 ? first : telling
  const naming = lines[at]?.trim()
  if (naming === undefined || reason.includes(naming.slice(0, quotedCharsMin))) return reason
  return `${reason}\n${bounded(naming.endsWith(':') ? `${naming}\n${nextLine(lines, at)}` : naming)}`
}

/** The first line with the same beginning whose kind is known. */
function meaningAfter(lines: string[], first: number): number {
  return lines.findIndex(
    (line, at) =>
      at >= first &&
      at < first + meaningLines &&
      errorWord.test(line) &&
      failureKindOf(line) !== 'other',
  )
}

const meaningLines = 8

function withNextLine(reason: string, text: string): string {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.includes(reason))
  return at < 0 ? reason : `${reason}\n${bounded(nextLine(lines, at))}`
}

function nextLine(lines: string[], at: number): string {
  return lines.slice(at + 1).find((line) => line.trim() !== '') ?? ''
}

function bounded(line: string): string {
  return line.slice(0, limits.reasonBytesMax)
}

export function namesError(text: string): boolean {
  return naming.some((pattern) => pattern.test(text))
}

/**
 * `KeyError: name`, `java.io.IOException`, `error: expected ;`, `error[E0308]: …`, `E999 …`,
 * `FAILED tests/a.py::b`. "An error occurred" and "ERRORS:" name none.
 */
const errorWord = /^(?:npm|pnpm|yarn) (?:error|ERR!) \S/
const naming = [
  errorWord,
  /\b[A-Za-z_]\w{0,80}(?:Error|Exception|Panic|Interrupt)\b(?=[:( ]|$)/m,
  /\b(?:error|exception|fatal|panic|fatal error)(?:\[\w{1,16}\])?(?: [A-Z]{1,4}\d{2,5})?: *\S/i,
  /^[\s*-]{0,8}(?:[A-Z]{1,4}\d{3,5} \S|FAILED \S)/m,
]
