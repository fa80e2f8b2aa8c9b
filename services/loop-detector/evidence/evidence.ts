// The evidence of a finished round: the identity, purpose and result of each different call. Rules
// read only this.
//
// Siblings that are the same call with the same result count once: the model had read
// no result when it wrote them.
// A call that was skipped for lack of time, budget or turn is omitted, because it shows
// nothing. So is one whose result nobody saw, even if it repeats: its results may differ.

import { isDeniedByGuard } from '../../../shared/contract/call/call.ts'
import { echoesOf, membersOf, readArguments } from '../../../shared/contract/identity/arguments.ts'
import type {
  Call,
  CallResult,
  Declaration,
  Denial,
  RoundChecked,
  ToolHints,
} from '../../../shared/contract/messages.ts'
import { isGuest } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { onOneLine, shortened } from '../../../shared/lib/text-cut.ts'
import { echoOf } from '../meaning/echo.ts'
import { emptyHandedAnswer, isEmptyHanded } from '../meaning/empty-handed.ts'
import { isRefusedPage, openedAddress, withoutOwnAddress } from '../meaning/page-reference.ts'
import { reportedFailure } from '../meaning/reported-failure.ts'
import { withoutInventedNames } from '../meaning/sql.ts'
import { isScroll } from '../meaning/step.ts'
import { isBrief } from '../waiting/sleep.ts'
import { isSteady } from '../waiting/steady.ts'
import {
  isInputEmpty,
  looksAtSession,
  namesThing,
  progressIn,
  waitOf,
  waitsByInput,
} from '../waiting/waiting.ts'
import type { CallEvidence, Failure, Reported, RoundEvidence } from './call-evidence.ts'
import { commandIn, type Effect, isStatusTool, type Operation, operationOf } from './effect.ts'
import { errorOf } from './error-text.ts'
import type { FailureKind } from './failure-kind.ts'
import { fingerprint, textHash } from './fingerprint.ts'
import { masked, withoutEchoes } from './mask.ts'
import { randomWordsIn, withoutRandom } from './random-suffix.ts'
import { serviceIn, serviceOf } from './service-name.ts'
import { mayBeStamped } from './stamp.ts'

/** Bytes of arguments, of a result and of an error that an intervention quotes. */
export const interventionQuoteBytesMax = 256

/** `time`: when its results were known. */
export function evidenceOf(
  checked: RoundChecked,
  results: CallResult[],
  time: Milliseconds,
): RoundEvidence {
  const { response, denials, declarations, round } = checked
  const calls = distinct(callsOf(round, response.calls, results, declarations, denials))
  return {
    round,
    time,
    isGuest: isGuest(checked.conversation),
    textOnly: checked.callsLeft <= 0,
    text: response.text,
    spoke: response.text.trim() !== '',
    unread: response.textCalls?.fault ?? null,
    held: response.textCalls?.held ?? null,
    called: response.calls.length > 0,
    cut: response.stop === 'length',
    calls,
    print: printOf(calls),
    denials,
  }
}

/** The key of a round with these calls. */
export function printOf(calls: CallEvidence[]): string {
  const [first] = calls
  if (first !== undefined && calls.length === 1) return first.outcome
  return fingerprint('round', ...calls.map(({ outcome }) => outcome).sort())
}

function callsOf(
  round: number,
  calls: Call[],
  results: CallResult[],
  declarations: Declaration[],
  denials: Denial[],
): CallEvidence[] {
  const declared = finder(declarations, ({ name }) => name, calls.length)
  const denied = finder(denials, ({ ordinal }) => ordinal, calls.length)
  const outcomes = finder(results, ({ ordinal }) => ordinal, calls.length)
  const evidence: CallEvidence[] = []
  for (const call of calls) {
    const result = outcomes(call.ordinal)
    if (result === undefined || result.status === 'skipped' || result.status === 'unseen') continue
    evidence.push(callEvidence(round, call, result, declared(call.name), denied(call.ordinal)))
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
  denial: Denial | undefined,
): CallEvidence {
  const { read, tool, mutates, guess, progress, isUp, wait, sleeps } = waitEvidence(
    call,
    result,
    declaration,
  )
  const { waits, operation } = guess
  const seen =
    result.status === 'ok' || result.status === 'error'
      ? result.text || result.reason
      : result.reason
  const addresses = openedAddress(tool, call.raw)
  const text =
    (result.status === 'ok' ? emptyHandedAnswer(read.value, seen) : undefined) ??
    masked(addresses.length > 0 ? withoutEchoes(withoutOwnAddress(seen), addresses) : seen)
  const failure =
    result.status === 'ok'
      ? undefined
      : failureOf(call, result, { value: read.value, denial, seen, text })
  const echo =
    failure === undefined && !sleeps
      ? echoOf(tool, read.value, { effect: guess.effect, raw: call.raw, text: result.text })
      : undefined
  const isEcho = echo?.kind === 'speech'
  const key = fingerprint('arguments', call.name, isEcho ? 'echo' : read.canonical)
  // A look at a thing that is over is no wait, so its answer counts like any other.
  // The name of a tool for input says nothing about a call without one, which reads a text.
  const isVainInput =
    isUp || (failure === undefined && progress === 'over' && waitsByInput(read.value))
  const isVainSleep = guess.effect === 'waits' && waits === 'look' && !sleeps
  const isVainScroll = isScroll({ tool, raw: call.raw }) && isEmptyHanded(text)
  const isVain = isVainInput || isVainSleep || isVainScroll
  const effect = isVain || isEcho ? 'reads' : guess.effect
  const freeText = guess.freeText || isVainInput
  const resultKey = isEcho
    ? fingerprint('result', tool, 'echo')
    : fingerprint('result', tool, failure === undefined ? 'ok' : 'failed', text)
  return {
    ref: { round, ordinal: call.ordinal },
    tool,
    service: serviceOf(call.name),
    key,
    result: resultKey,
    outcome: key + resultKey,
    effect,
    sleeps,
    sleepsBriefly: sleeps && isBrief(commandIn(read.value) ?? ''),
    operation: operation ?? key,
    freeText,
    mutates: mutates === true,
    value: read.value,
    raw: call.raw,
    mayBeStamped: failure === undefined && mayBeStamped(call.raw),
    isEcho,
    repeated: echo?.kind === 'text' ? echo.words : undefined,
    opens: addresses.length > 0,
    reported:
      failure === undefined && !isEcho
        ? reportedOf(call.name, read.value, { effect, text: result.text })
        : undefined,
    isNew: true,
    poll: false,
    wait,
    runs: progress === 'running',
    ran: result.status !== 'denied',
    isDenied: isDeniedByGuard(result),
    failure,
    text: result.text,
    answer: failure === undefined ? text.slice(0, answerCharsMax) : '',
    shown: {
      arguments: quoted(call.raw),
      outcome: failure === undefined ? returned(quoted(result.text)) : `error: ${failure.reason}`,
    },
  }
}

/** Whether the call waits, as far as the call alone shows it (waits-of-turn.ts). */
export function waitEvidence(call: Call, result: CallResult, declaration: Declaration | undefined) {
  const read = readArguments(call.raw, declaration?.hints)
  const tool = toolOf(call)
  const mutates = declaration?.hints?.mutates ?? null
  const guess = operationOf(tool, read.value, mutates)
  const isOk = result.status === 'ok'
  const isUp = isOk && named.test(call.raw) && looksAtSession(read.value) && isSteady(result.text)
  const progress = isOk && !isUp ? progressIn(read.value, result.text) : 'over'
  const wait = waitOf(tool, read.value, {
    progress,
    text: result.text,
    isPoller: declaration?.poll === true,
    looks: () => mayLook(tool, read.value, { ...guess, mutates }),
  })
  const { waits } = guess
  const sleeps = isOk && (waits === 'only' || (waits === 'look' && progress !== 'over'))
  return { read, tool, mutates, guess, progress, isUp, wait, sleeps }
}

/** The arguments may name a session. */
const named = /(?:id|name)s?"|is_input"/i

/** Whether its answer may be about another thing: a look, and no action that was queued. */
function mayLook(
  tool: string,
  value: unknown,
  { effect, operation, freeText, mutates }: Operation & Pick<ToolHints, 'mutates'>,
): boolean {
  if (effect === 'reads' || effect === 'waits') return true
  if (mutates === true) return false
  // A tool for input without an input looks at the session.
  if (freeText || isStatusTool(tool)) return true
  if (operation === undefined && looksAtSession(value)) return true
  return effect === 'opaque' && (namesThing(value) || isInputEmpty(value))
}

/** It waits: for something that runs, or for a time. */
export function isWaiting({ poll, sleeps }: Pick<CallEvidence, 'poll' | 'sleeps'>): boolean {
  return poll || sleeps
}

/** The name under which rules count a call. Bounded, because a model may invent any name. */
export function toolOf({ name }: Call): string {
  return quoted(name)
}

/** Longer answers are no acknowledgements, so only this much is kept. */
const answerCharsMax = 128

/** `seen`: the text that identifies its result. `text`: the same, masked. */
type FailedCall = {
  value: unknown
  denial: Denial | undefined
  seen: string
  text: string
}

function failureOf(
  call: Call,
  result: CallResult,
  { value, denial, seen, text }: FailedCall,
): Failure {
  const reason = quoted(result.reason || result.text)
  const { error, kind: kindOfText } = errorOf(result)
  const invented = result.status === 'error' ? withoutInventedNames(error, call.raw) : undefined
  const kindOfError = kindOf(kindOfText, call, result, denial)
  // A statement with a name that is not there is a look-up without a hit, as is a page that refuses.
  const isMiss =
    kindOfError === 'denied'
      ? result.status === 'error' && isRefusedPage(call.raw, error)
      : invented !== undefined && kindOfError === 'shape'
  const kind = isMiss ? 'miss' : kindOfError
  const values = echoesOf(value).flatMap(withFirstLine)
  // A name that the tool does not know is as free as a value: the next one is no progress.
  const unechoed = withoutEchoes(seen, kind === 'shape' ? [...values, ...membersOf(value)] : values)
  const whole = textHash(unechoed === seen ? text : masked(unechoed))
  if (kind === 'bare')
    return { kind, key: undefined, service: undefined, whole, echoed: undefined, reason }

  // An invented tool fails in the same way under any name, so the name is no part of that failure.
  const isUnknown = kind === 'unknown_tool'
  const own =
    isUnknown && call.name !== ''
      ? error.replaceAll(call.name, '<tool>')
      : (invented?.error ?? error)
  // Echoes before volatile parts: a date from the arguments is no clock.
  const paths = kind === 'miss' ? wordsOf(value).filter((word) => word.includes('/')) : []
  const echoes = [...values, ...paths].filter((echo) => own.includes(echo))
  const plain = masked(
    withoutEchoes(own, [...echoes, ...(isUnknown ? wordsOf(value) : randomWordsIn(values, own))]),
  )
  const key = fingerprint('error', isUnknown ? '' : call.name, plain)
  const named = serviceIn(call.name, kind, plain)
  const service =
    named === undefined
      ? undefined
      : { key: fingerprint('error', 'service', named, plain), name: named }
  // Sorted, because the order of members has no meaning.
  const causes = [...echoes.map(withoutRandom), ...(invented?.names ?? [])]
  const echoed = causes.length === 0 ? undefined : textHash(causes.sort().join('\n'))
  return { kind, key, service, whole, echoed, reason }
}

/** A reason is one line, so it may repeat the first line of a text. */
function withFirstLine(echo: string): string[] {
  const end = echo.indexOf('\n')
  return end >= firstLineMin ? [echo, echo.slice(0, end)] : [echo]
}

const firstLineMin = 8

function reportedOf(
  name: string,
  value: unknown,
  answer: { effect: Effect; text: string },
): Reported | undefined {
  const stated = reportedFailure(name, value, answer)
  if (stated === undefined) return undefined
  const plain = masked(withoutEchoes(stated.error, echoesOf(value)))
  return { kind: stated.kind, key: fingerprint('error', name, plain), reason: quoted(stated.error) }
}

/** An unknown command may be any word of the arguments. */
function wordsOf(value: unknown): string[] {
  return echoesOf(value).flatMap((text) => text.split(/\s+/).filter((word) => word.length >= 2))
}

function kindOf(
  kindOfText: FailureKind,
  { problem }: Call,
  result: CallResult,
  denial: Denial | undefined,
): FailureKind {
  if (problem === 'stream_error') return 'transient' // a failure of the provider, not of the model
  if (denial !== undefined) return denial.code === 'unknown_tool' ? 'unknown_tool' : 'shape'
  if (isDeniedByGuard(result)) return 'denied'
  switch (result.status) {
    case 'timed_out':
    case 'unknown':
      // The tool hangs, or its owner died with it: no sign of a network that recovers.
      return 'other'
    default:
      return kindOfText
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
    onOneLine(text.slice(0, 4 * interventionQuoteBytesMax)),
    interventionQuoteBytesMax,
  )
}
