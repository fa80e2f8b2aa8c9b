// What a finished round shows: for each different call its identity, what it was for and what came
// out of it. Rules read nothing else of a round.
// EVIDENCE-1. Siblings that are the same call with the same result count once: the model had not
//     seen any result when it wrote them.
// EVIDENCE-2. What never ran because there was no time, no budget or no turn for it says nothing
//     about the call: it is left out.

import { limits } from '../../shared/contract/limits.ts'
import type {
  Call,
  CallResult,
  Declaration,
  EvidenceRef,
  Rejection,
  RoundChecked,
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
  /** Its visible text, and whether there is any. */
  text: string
  spoke: boolean
  /** Why its text, which is built like a call, cannot run (I2); null: it is no such text. */
  unread: string | null
  /** It has calls, whatever became of them. */
  called: boolean
  /** The length limit cut it. */
  cut: boolean
  calls: CallEvidence[]
  /** The round as one thing: its calls with their results, in whatever order the siblings stand. */
  print: string
  rejections: Rejection[]
}

export type CallEvidence = {
  ref: EvidenceRef
  /** Its name, bounded: whatever a model invents. */
  tool: string
  /** The key of (tool, arguments). */
  key: string
  /** What came out of it: the key of (tool, masked result or error). */
  result: string
  /**
   * Both as one: this call with this result. Made once, because many accounts are kept under it.
   */
  outcome: string
  effect: Effect
  /** As operationOf says of it. */
  waits: boolean
  operation: string
  freeText: boolean
  /** Its arguments; undefined where their text is no JSON. */
  value: unknown
  /** They may hold something that changes by itself (stamp.ts). */
  mayBeStamped: boolean
  poll: boolean
  /** It was started, so its arguments had the right shape. */
  ran: boolean
  /** A guard stopped it: that is evidence of a loop, and never news. */
  vetoed: boolean
  /** Undefined: it succeeded. */
  failure: Failure | undefined
  /** Of its result, as the model reads it. */
  text: string
  /**
   * The masked result of a success, where it is short enough to be told from an acknowledgement.
   */
  answer: string
  /** For people and models: as sent, on one line, bounded. */
  shown: { arguments: string; outcome: string }
}

export type Failure = {
  kind: FailureKind
  /** The key of (tool, error); undefined where there is no word of why. */
  key: string | undefined
  /**
   * The error repeats values of the call, so they may be its cause: then the hash of these values,
   * and of nothing else in the error, such as a clock.
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
 * Finds the last item of a key. Most rounds have a call or two, and then a map takes longer to
 * build than the list to look through.
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

/** The name under which rules count a call: whatever a model invents as a name, bounded. */
export function toolOf({ name }: Call): string {
  return quoted(name)
}

/** Longer answers are no acknowledgements, so more of them need not be kept. */
const answerCharsMax = 128

function failureOf(
  call: Call,
  result: CallResult,
  value: unknown,
  rejection: Rejection | undefined,
): Failure {
  const reason = quoted(result.reason || result.text)
  // A tool that in short only says "exit code 1" may say more at length.
  const error =
    result.status === 'error' && isBare(result.reason) ? tellingLines(result.text) : result.reason
  const kind = kindOf(error, call, result, rejection)
  if (kind === 'bare') return { kind, key: undefined, echoed: undefined, reason }

  // An invented tool fails under whatever name: the name is no part of that failure.
  const isUnknown = kind === 'unknown_tool' && call.name !== ''
  const own = isUnknown ? error.replaceAll(call.name, '<tool>') : error
  // Echoes before volatile parts: a date that the model asked for is no clock.
  const echoes = echoesOf(value).filter((echo) => own.includes(echo))
  const tool = isUnknown ? '' : call.name
  const key = fingerprint('error', tool, masked(withoutEchoes(own, echoes)))
  // Sorted, because the order of a call's members means nothing.
  const echoed = echoes.length === 0 ? undefined : textHash(echoes.toSorted().join('\n'))
  return { kind, key, echoed, reason }
}

function kindOf(
  error: string,
  { problem }: Call,
  { status }: CallResult,
  rejection: Rejection | undefined,
): FailureKind {
  if (problem === 'stream_error') return 'transient' // the provider's, not the model's
  if (rejection !== undefined) return rejection.code === 'unknown_tool' ? 'unknown_tool' : 'shape'
  switch (status) {
    case 'vetoed':
      return 'denied'
    case 'timed_out':
    case 'outcome_unknown':
      return 'other' // the tool hangs or its owner died with it: that is no sign of a network that recovers
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

/** On one line and bounded, as interventions quote it. */
function quoted(text: string): string {
  return shortened(
    onOneLine(text.slice(0, 4 * limits.interventionQuoteBytesMax)),
    limits.interventionQuoteBytesMax,
  )
}
