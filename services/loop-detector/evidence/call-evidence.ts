// The types of the evidence that rules read (evidence.ts). A file of types is not loaded.

import type { Denial, EvidenceRef, TextCallsHold } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { Wait } from '../waiting/waiting.ts'
import type { Effect } from './effect.ts'
import type { FailureKind } from './failure-kind.ts'

export type RoundEvidence = {
  round: number
  /** When its results were known: the time of the record (R1). */
  time: Milliseconds
  /** Its agent is a guest: nobody declares the tools. */
  isGuest: boolean
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
  denials: Denial[]
}

export type CallEvidence = {
  ref: EvidenceRef
  /** Its name, bounded, because a model may invent any name. */
  tool: string
  /** The service that its name states (service-name.ts), otherwise empty. */
  service: string
  /** The key of (tool, arguments). */
  key: string
  /** The key of (tool, masked result or error). */
  result: string
  /** The key of this call with this result, computed once for all rules. */
  outcome: string
  effect: Effect
  /** It succeeded, and it sleeps: alone, or before a look at a thing that is not over. */
  sleeps: boolean
  /** It sleeps for less than five seconds. */
  sleepsBriefly: boolean
  operation: string
  freeText: boolean
  /** Its arguments. Undefined: their text is not JSON. */
  value: unknown
  /** The text of its arguments as sent. */
  raw: string
  /** Its declaration states that it changes something. */
  mutates: boolean
  /** It succeeded, and the arguments may hold a stamp (stamp.ts). */
  mayBeStamped: boolean
  /** Its result has only the words of the call, so it is no result (echo.ts). */
  isEcho: boolean
  /** The result repeats the call's only text: the call without numbers. Undefined: it does not. */
  repeated: string | undefined
  /** It opens the page of an address. */
  opens: boolean
  /** It succeeded, and its answer states that the operation failed. */
  reported: Reported | undefined
  /** The turn did not have this outcome before. Set when the round is judged (novelty.ts). */
  isNew: boolean
  /** It waits for something that runs elsewhere. Made of `wait` when the round is judged. */
  poll: boolean
  wait: Wait
  /** Its answer states that something runs. */
  runs: boolean
  /** It was started, so its arguments had the right shape. */
  ran: boolean
  /** A guard or a person denied it: evidence of a loop, and never news. */
  isDenied: boolean
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
   * The error regardless of the tool: its key, and the service by the names of tools, empty if the
   * error names it. Undefined: other tools may fail alike by chance.
   */
  service: { key: string; name: string } | undefined
  /**
   * The hash of the whole masked error, without the values of the call. A wrong shape is without the
   * names of its members too.
   */
  whole: number
  /**
   * The hash of the values of the call that the error repeats, without random suffixes, and of
   * nothing else in the error, such as a clock. These values may be its cause. Undefined: none.
   */
  echoed: number | undefined
  /** The short reason, bounded. */
  reason: string
}

/** `key`: of (tool, words of the failure). `reason`: those words, for people, bounded. */
export type Reported = { kind: FailureKind; key: string; reason: string }
