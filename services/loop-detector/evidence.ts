// The evidence of a finished round: the identity, purpose and result of each different call. Rules
// read only this.
//
// EVIDENCE-1. Siblings that are the same call with the same result count once: the model had read
//     no result when it wrote them.
// EVIDENCE-2. A call that was skipped for lack of time, budget or turn is omitted, because it shows
//     nothing.

import { limits } from '../../shared/contract/limits.ts'
import type {
  Call,
  CallResult,
  Declaration,
  EvidenceRef,
  Rejection,
  RoundChecked,
  TextCallsHold,
} from '../../shared/contract/messages.ts'
import { onOneLine, shortened } from '../../shared/lib/text-cut.ts'
import { echoesOf, readArguments } from './arguments.ts'
import { type Effect, operationOf } from './effect.ts'
import { type FailureKind, failureKindOf, isBare, tellingLines } from './failure-kind.ts'
import { fingerprint } from './fingerprint.ts'
import { masked, withoutEchoes } from './mask.ts'
import { mayBeStamped } from './stamp.ts'
import { textHash } from './text-hash.ts'

export type RoundEvidence = {
  round: number
  /** No tool could be called in it. */
  textOnly: boolean
  /** Its visible text, and whether it has any. */
  text: string
  spoke: boolean
  /** The reason why its text, built like a call, did not run (I2). Null: it is no such text. */
  unread: string | null
  /** Why a readable call in that text was held. Null: it could not run, or there is none. */
  held: TextCallsHold | null
  /** It has calls, with any result. */
  called: boolean
  /** The length limit cut it. */
  cut: boolean
  calls: CallEvidence[]
  /** The key of the whole round: its calls with their results, in any order. */
  print: string
  rejections: Rejection[]
}

export type CallEvidence = {
  ref: EvidenceRef
  /** Its name, bounded, because a model may invent any name. */
  tool: string
  /** The key of (tool, arguments). */
  key: string
  /** The key of (tool, masked result or error). */
  result: string
  /** The key of this call with this result, computed once for all rules. */
  outcome: string
  effect: Effect
  /** As in Operation (effect.ts). */
  waits: boolean
  operation: string
  freeText: boolean
  /** Its arguments. Undefined: their text is not JSON. */
  value: unknown
  /** The arguments may hold a stamp (stamp.ts). */
  mayBeStamped: boolean
  poll: boolean
  /** It was started, so its arguments had the right shape. */
  ran: boolean
  /** A guard vetoed it: evidence of a loop, and never news. */
  vetoed: boolean
  /** Undefined: it succeeded. */
  failure: Failure | undefined
  /** The text of its result, as the model reads it. */
  text: string
  /**
   * The beginning of the masked result of a success, long enough to distinguish it from an
   * acknowledgement.
   */
  answer: string
  /** For people and models: on one line, bounded. */
  shown: { arguments: string; outcome: string }
}

export type Failure = {
  kind: FailureKind
  /** The key of (tool, error). Undefined: the error gives no reason. */
  key: string | undefined
  /**
   * The hash of the values of the call that the error repeats, and of nothing else in the error,
   * such as a clock. These values may be its cause. Undefined: none.
   */
  echoed: number | undefined
  /** The short reason, bounded. */
  reason: string
}

export function evidenceOf(checked: RoundChecked, results: CallResult[]): RoundEvidence {
  const { response, rejections, declarations, round } = checked
  const calls = distinct(callsOf(round, response.calls, results, declarations, rejections))
  return {
    round,
    textOnly: checked.callsLeft <= 0,
    text: response.text,
    spoke: response.text.trim() !== '',
    unread: response.textCalls?.fault ?? null,
    held: response.textCalls?.held ?? null,
    called: response.calls.length > 0,
    cut: response.stop === 'length',
    calls,
    print: printOf(calls),
    rejections,
  }
}

function printOf(calls: CallEvidence[]): string {
  const [first] = calls
  if (first !== undefined && calls.length === 1) return first.outcome
  return fingerprint('round', ...calls.map(({ outcome }) => outcome).sort())
}

function callsOf(
  round: number,
  calls: Call[],
  results: CallResult[],
  declarations: Declaration[],
  rejections: Rejection[],
): CallEvidence[] {
  const declared = finder(declarations, ({ name }) => name, calls.length)
  const rejected = finder(rejections, ({ ordinal }) => ordinal, calls.length)
  const outcomes = finder(results, ({ ordinal }) => ordinal, calls.length)
  const evidence: CallEvidence[] = []
  for (const call of calls) {
    const result = outcomes(call.ordinal)
    if (result === undefined || result.status === 'skipped') continue
    evidence.push(callEvidence(round, call, result, declared(call.name), rejected(call.ordinal)))
  }
  return evidence
}

/**
 * Finds the last item of a key. Most rounds have one or two calls, for which a list is faster than
 * a map.
 */
function finder<Item, Key>(
  items: Item[],
  keyOf: (item: Item) => Key,
  lookups: number,
): (key: Key) => Item | undefined {
  if (lookups <= 2) return (key) => items.findLast((item) => keyOf(item) === key)
  const byKey = new Map(items.map((item) => [keyOf(item), item]))
  return (key) => byKey.get(key)
}

function callEvidence(
  round: number,
  call: Call,
  result: CallResult,
  declaration: Declaration | undefined,
  rejection: Rejection | undefined,
): CallEvidence {
  const read = readArguments(call.raw, declaration?.hints)
  const tool = toolOf(call)
  const { effect, waits, operation, freeText } = operationOf(
    tool,
    read.value,
    declaration?.hints?.mutates,
  )
  const failure =
    result.status === 'ok' ? undefined : failureOf(call, result, read.value, rejection)
  const text = masked(
    failure === undefined || result.status === 'error'
      ? result.text || result.reason
      : result.reason,
  )
  const key = fingerprint('arguments', call.name, read.canonical)
  const resultKey = fingerprint('result', tool, failure === undefined ? 'ok' : 'failed', text)
  return {
    ref: { round, ordinal: call.ordinal },
    tool,
    key,
    result: resultKey,
    outcome: key + resultKey,
    effect,
    waits,
    operation,
    freeText,
    value: read.value,
    mayBeStamped: mayBeStamped(call.raw),
    poll: declaration?.poll ?? false,
    ran: result.status !== 'rejected' && result.status !== 'vetoed',
    vetoed: result.status === 'vetoed',
    failure,
    text: result.text,
    answer: failure === undefined ? text.slice(0, answerCharsMax) : '',
    shown: {
      arguments: quoted(call.raw),
      outcome: failure === undefined ? returned(quoted(result.text)) : `error: ${failure.reason}`,
    },
  }
}

/** The name under which rules count a call. Bounded, because a model may invent any name. */
export function toolOf({ name }: Call): string {
  return quoted(name)
}

/** Longer answers are no acknowledgements, so only this much is kept. */
const answerCharsMax = 128

function failureOf(
  call: Call,
  result: CallResult,
  value: unknown,
  rejection: Rejection | undefined,
): Failure {
  const reason = quoted(result.reason || result.text)
  // A tool whose short reason is only "exit code 1" may give a longer text.
  const error =
    result.status === 'error' && isBare(result.reason) ? tellingLines(result.text) : result.reason
  const kind = kindOf(error, call, result, rejection)
  if (kind === 'bare') return { kind, key: undefined, echoed: undefined, reason }

  // An invented tool fails in the same way under any name, so the name is no part of that failure.
  const isUnknown = kind === 'unknown_tool' && call.name !== ''
  const own = isUnknown ? error.replaceAll(call.name, '<tool>') : error
  // Echoes before volatile parts: a date from the arguments is no clock.
  const echoes = echoesOf(value).filter((echo) => own.includes(echo))
  const tool = isUnknown ? '' : call.name
  const key = fingerprint('error', tool, masked(withoutEchoes(own, echoes)))
  // Sorted, because the order of members has no meaning.
  const echoed = echoes.length === 0 ? undefined : textHash(echoes.toSorted().join('\n'))
  return { kind, key, echoed, reason }
}

function kindOf(
  error: string,
  { problem }: Call,
  { status }: CallResult,
  rejection: Rejection | undefined,
): FailureKind {
  if (problem === 'stream_error') return 'transient' // a failure of the provider, not of the model
  if (rejection !== undefined) return rejection.code === 'unknown_tool' ? 'unknown_tool' : 'shape'
  switch (status) {
    case 'vetoed':
      return 'denied'
    case 'timed_out':
    case 'outcome_unknown':
      // The tool hangs, or its owner died with it: no sign of a network that recovers.
      return 'other'
    default:
      return failureKindOf(error)
  }
}

function distinct(calls: CallEvidence[]): CallEvidence[] {
  if (calls.length < 2) return calls
  const seen = new Set<string>()
  return calls.filter(({ outcome }) => !seen.has(outcome) && seen.add(outcome))
}

function returned(text: string): string {
  return text === '' ? 'returned nothing' : `returned: ${text}`
}

/** The text on one line, bounded, as interventions quote it. */
function quoted(text: string): string {
  return shortened(
    onOneLine(text.slice(0, 4 * limits.interventionQuoteBytesMax)),
    limits.interventionQuoteBytesMax,
  )
}
