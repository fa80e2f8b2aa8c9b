// The interface that every front uses: proxy, hooks, adapters, MCP gateway. guest-thread.ts implements it.
// Owns: the shapes of a guest's requests, answers, results, advice and verdicts.
// Does not own: the records that a front writes (front.ts), the decisions (services/guest).

import type { Cap, Declaration, InterventionAction } from '../../shared/contract/messages.ts'
import type { Piece } from '../../shared/transcript/transcript.ts'
import type { FormatName } from '../../shared/wire/formats.ts'
import type { VerdictCode } from './verdict-code.ts'

/** The format of a guest's history. */
export type GuestFormat = FormatName

/**
 * The request that a guest is about to send, in the format of its provider or framework. For the
 * provider formats `body` is the parsed request body, for the others the list of messages.
 */
export type GuestRequest = {
  format: GuestFormat
  body: unknown
  /** For budgets in money, where the body names no model. */
  model?: { provider: string; name: string }
  /** The name of the host's profile, if the agent is a host that changes calls, such as `claude-code`. */
  host?: string | undefined
}

/** The model's finished answer to a request, in the same format. */
export type GuestAnswer = { request: GuestRequest; answer: unknown }

/** A request that its front knows as values. `tools`: those on offer; undefined: it does not see them. */
export type ReadGuestRequest = Pick<GuestRequest, 'host'> & {
  format?: undefined
  body?: undefined
  model?: undefined
  pieces: readonly Piece[]
  tools: readonly Declaration[] | undefined
}

export type AnyGuestRequest = GuestRequest | ReadGuestRequest

/** An answer that its front has read already. */
export type ReadGuestAnswer = { request: AnyGuestRequest; pieces: readonly Piece[] }

export type AnyGuestAnswer = GuestAnswer | ReadGuestAnswer

export type Advice = {
  action: 'none' | InterventionAction
  /** For the model, after everything else, for this request only. Empty at `none` and `end`. */
  text: string
  reason: string
  rule: string | null
  cap: Cap | null
  /** At `end`, for the user: Weir, its rule, the reason, and the newest result. Otherwise empty. */
  userText: string
  /** At `end`: the text of the guest's file for its user, to show after the reason. Otherwise empty. */
  fallback: string
  /**
   * False is no error: Weir did not answer in time, the history is at the provider, or too many
   * guests are open.
   */
  judged: boolean
  /**
   * The body of the same request with the advice in it, for the provider formats; otherwise, and at
   * action `none`, the body itself. Pass it on unchanged.
   */
  applied: unknown
}

export type CallVerdict = {
  callId: string
  name: string
  verdict: 'allow' | 'deny' | 'pending'
  /** For the model. Empty at `allow`. */
  text: string
  code: VerdictCode
  /** For people, at `deny` and `pending`: a short reason, or the names of the guards. */
  reason?: string
  /** At `pending` for a person. `until` is in milliseconds since 1970. */
  approval?: { id: string; hash: string; until: number }
}

export type GuestResult = {
  callId: string
  /** Which call of the round has this id, from 0, for agents that reuse ids. Default 0. */
  nth?: number
  status: 'ok' | 'error' | 'unknown' | 'skipped'
  text: string
}

/** Every method is idempotent. */
export type GuestConversation = {
  /**
   * Before the guest asks its model. Sends the rounds of the history that the log does not know, and
   * waits for the advice on the last one. Throws `guest.format` with the path into the body.
   */
  beforeModel(request: AnyGuestRequest, signal?: AbortSignal): Promise<Advice>
  /**
   * After the model has answered. Resolves once no call waits, or after `waitMs` with verdicts `pending`.
   * Call it again to go on waiting.
   */
  afterModel(
    answer: AnyGuestAnswer,
    options?: { waitMs?: number; signal?: AbortSignal },
  ): Promise<CallVerdict[]>
  /** Results at once, if no later history will show them (hooks, MCP). A call's first one counts. */
  reportResults(results: GuestResult[]): Promise<void>
  /**
   * The run is over, also if calls are open. `refusal`: the front has ended it, because Weir refused
   * its calls, for this reason.
   */
  endTurn(refusal?: string): Promise<void>
  /**
   * The agent that this call started goes on after its result, as the conversation `child` of this guest.
   * Its place under the caps of the tree comes back when a turn of that conversation ends.
   */
  goesOn(callId: string, child: string): void
  /** A child that went on has ended, and nothing else shows its end. */
  childEnded(child: string): Promise<void>
  /** The agent has answered its user, and the front does not see the text. */
  finishTurn(): Promise<void>
}

/**
 * `turn`: your id of a run, if you have one. `parent`: the conversation whose call began this one.
 * `root`: the root of its tree; alone, if you do not know the parent. Default: the root that this
 * session knows for the parent, or the parent.
 */
export type GuestPlaceOptions = { turn?: string; parent?: string; root?: string }

/** `await using` closes it at the end of the block. */
export type GuardSession = AsyncDisposable & {
  /** Keeps no state: make one per call if you like. */
  conversation(id: string, options?: GuestPlaceOptions): GuestConversation
  /** Rejects with the first stage that cannot go on; never resolves. */
  readonly failed: Promise<never>
  /**
   * With a data folder it waits until reported records are judged, at most 5 seconds. Until then the
   * stages of this process run, and so does the process. Without a log the process only lives for as
   * long as a call waits, and the calls that wait then end.
   */
  close(): Promise<void>
}
