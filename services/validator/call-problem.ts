// Explains to the model why a call with a problem from the accumulator cannot run. Empty arguments
// have several causes, and each needs another correction: the model sent `{}`, nothing arrived, or
// the response was cut before or after the arguments began.

import { shownName, visible } from '../../shared/contract/arguments/name-text.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Call, CallProblem, Stop } from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import { type JsonFault, jsonFault } from '../../shared/lib/json/json-fault.ts'
import * as texts from '../../shared/model-texts/arguments.ts'
import { type Finding, missingFields } from './directive.ts'

/** `missing`: the required fields that empty arguments lack. */
export function problemFinding(
  problem: CallProblem,
  call: Call,
  stop: Stop,
  missing: string[],
): Finding {
  switch (problem) {
    case 'truncated':
      return { ...truncated(call, stop), code: 'bad_arguments', unknown: 'arguments' }
    case 'stream_error': {
      const where = hasBegun(call) ? 'in the middle of the arguments' : 'before the arguments began'
      return {
        code: 'bad_arguments',
        reason: `the provider reported an error ${where}`,
        unknown: 'arguments',
        notes: [texts.incompleteArguments],
      }
    }
    case 'no_arguments': {
      const reason =
        missing.length > 0 ? missingFields(missing) : 'no arguments came, and the tool needs some'
      const notes = [
        call.repair === null
          ? texts.noArgumentText
          : texts.meansNoArguments(call.repair.sent.trim()),
      ]
      return {
        code: 'no_arguments',
        reason,
        unknown: missing.length > 0 ? missing : 'arguments',
        notes,
      }
    }
    case 'invalid_json':
      return unreadable(call.raw)
    case 'not_an_object':
      return notAnObject(call.raw)
    case 'lost_arguments':
      return {
        code: 'no_arguments',
        reason: 'the arguments were lost on the way',
        unknown: missing.length > 0 ? missing : 'arguments',
        notes: texts.lostArguments,
      }
    case 'free_text': {
      const notes = [texts.oneObject]
      return {
        code: 'bad_arguments',
        reason: 'the call has free text in the place of JSON arguments',
        unknown: 'arguments',
        notes,
      }
    }
    default:
      return unreachable(problem)
  }
}

/**
 * The length is in the detail: loop keys consist of reasons, and a mistake is the same at any
 * length.
 */
function truncated(call: Call, stop: Stop): Pick<Finding, 'reason' | 'detail' | 'notes'> {
  // Weir itself cut a text of about this length. A character that did not fit has at most four
  // bytes.
  if (Buffer.byteLength(call.raw) > limits.argumentBytesMax - 4)
    return {
      reason: `the arguments are longer than ${limits.argumentBytesMax} bytes`,
      notes: [texts.callTooLong],
    }
  const length = call.raw === '' ? {} : { detail: `${call.raw.length} characters of them had come` }
  if (stop === 'length') {
    const reason = hasBegun(call)
      ? 'the output limit cut off the arguments'
      : 'the output limit was reached before the arguments began'
    return {
      reason,
      ...length,
      notes: [texts.incompleteArguments, texts.keepShort],
    }
  }
  const where = hasBegun(call) ? 'inside the arguments' : 'before the arguments began'
  return {
    reason: `the response broke off ${where}`,
    ...length,
    notes: [texts.incompleteArguments],
  }
}

/** A start input alone is only the beginning of a call. */
function hasBegun({ source }: Call): boolean {
  return source === 'deltas' || source === 'done'
}

/** For a text that JSON.parse refuses, or that must not be parsed. */
export function unreadable(raw: string): Finding {
  const fault = jsonFault(raw, limits.argumentDepthMax)
  if (fault?.kind === 'too-deep') {
    const reason = `the arguments are nested deeper than ${limits.argumentDepthMax} levels`
    return { code: 'bad_arguments', reason, unknown: 'arguments' }
  }
  const notes = [texts.oneObject]
  const strange = fault === undefined ? undefined : strangeEscape(raw)
  return {
    code: 'bad_arguments',
    reason: 'the arguments are not valid JSON',
    ...detailOf(fault, raw),
    unknown: 'arguments',
    notes: strange === undefined ? notes : [...notes, texts.strangeEscape(visible(strange))],
  }
}

/** The first escape that is none of JSON and can have several meanings: `\'` has one. */
function strangeEscape(raw: string): string | undefined {
  for (const [found] of raw.matchAll(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|.|$)/gsu))
    if (!/^\\(?:["\\/bfnrt']|u.|$)/.test(found)) return found
  return undefined
}

function detailOf(fault: JsonFault | undefined, raw: string): Pick<Finding, 'detail'> {
  if (fault === undefined) return {}
  if (fault.kind === 'unfinished')
    return { detail: `the text ends at position ${fault.at}, before the object does` }
  const found = String.fromCodePoint(raw.codePointAt(fault.at) ?? 0)
  return { detail: `unexpected '${shownName(found)}' at position ${fault.at}` }
}

export function notAnObject(raw: string): Finding {
  const kind = kindOf(raw.trimStart().charAt(0))
  const notes = encodesObject(raw) ? [texts.objectInString] : []
  return {
    code: 'bad_arguments',
    reason: 'the arguments are not a JSON object',
    detail: `they are ${kind}`,
    unknown: 'arguments',
    notes,
  }
}

/** `"{\"path\":\"a\"}"`: the object was encoded twice. */
function encodesObject(raw: string): boolean {
  return /^\s*"\s*\{/.test(raw)
}

function kindOf(first: string): string {
  if (first === '[') return 'an array'
  if (first === '"') return 'a string'
  if (first === 't' || first === 'f') return 'a boolean'
  return first === 'n' ? 'null' : 'a number'
}
