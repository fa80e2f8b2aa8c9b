// A front: it writes the rounds and the results of a guest into the log, and reads the advice and
// the verdicts there. All fronts use it: proxy, hooks, adapters, MCP gateway.
// Writes: guest-round, guest-results and guest-claim to guest-events. Reads: activity.
// A front keeps no state that a decision depends on. Every write may be repeated: a round
// is known by its key, and a result counts once.
// A front listens before it writes, so it misses no answer.
// FRONT-3. A verdict belongs to a turn and a round, never to a call id. The record round-started
//     names both for a key of a turn.
// Rounds that the log does not know are sent again before the guest asks its model, in their
// order, with their results and those of the round before.
// No `allow` passes a stop, and none goes out before the log has the front's claim: another front
// gets `guest.repeated`, also after a restart. In its own process a library may repeat an answer.

import { randomUUID } from 'node:crypto'
import type { RecordedParts } from '../../shared/agents/guest.ts'
import { givenBeforeReason, roundOverReason } from '../../shared/contract/call/call-endings.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AgentSettings,
  FormerTurn,
  GuestAdvice,
  GuestCallVerdict,
  GuestResult,
  GuestResults,
  GuestRound,
  PendingCall,
  Policy,
  StopInForce,
} from '../../shared/contract/messages.ts'
import type { HistoryPlace } from '../../shared/contract/performer.ts'
import { newestTurn } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { givenBefore, roundIsOver } from '../../shared/model-texts/guests.ts'
import { hashOfKey, idsOfKey, numberOfKey, roundKey } from '../../shared/transcript/round-key.ts'
import { type FrontLink, type Inbox, openInbox } from './inbox.ts'

/** How often a front sends the rounds that the log does not know, for one request of a guest. */
export const guestCatchUpsMax = 3
/**
 * Rounds of a guest that a front has sent at once and that are not judged yet, and their
 * characters together: a quarter of guestPendingBytesMax.
 */
export const guestRoundsSentMax = 16
const guestRoundsSentCharsMax = 1024 * 1024

/**
 * `turnKey`: the front's name for the turn. `user`: the text that opened it, if known. `secrets`: those of
 * the client's request, which its records hide. A function, because no copy or log line of it has them.
 */
export type GuestTurn = {
  conversation: ConversationId
  turnKey: string
  user: string | null
  secrets?: (() => readonly string[]) | undefined
}

/** A round as its front knows it. */
export type SentRound = Pick<GuestRound, 'key' | 'after' | 'response' | 'offered' | 'declarations'>

/**
 * A round of a history. `make` gives its content if the log lacks it. The keys of a history count
 * the rounds that it shows; hidden ones are added where a record needs it.
 */
export type ShownRound = {
  key: string
  readonly results: GuestResult[]
  make: () => Omit<SentRound, 'key' | 'after'>
}

/** Denied rounds per hash of words, which the guest never saw. */
export type HiddenCounts = ReadonlyMap<string, number>

/** `isJudged`: the log knows all rounds of the history. */
export type ReceivedAdvice = { advice: GuestAdvice; isJudged: boolean }

/** The newest facts about a round. `pending`: its calls that wait for a person. */
export type RoundVerdicts = {
  calls: readonly GuestCallVerdict[]
  pending: readonly (PendingCall & { until: Milliseconds })[]
  /** The numbers of its turn and its round. Undefined: it does not count. */
  place: HistoryPlace | undefined
  /** No call waits. */
  isSettled: boolean
  /** Why the round does not count. Undefined: it counts. */
  notCounted: string | undefined
}

export type FrontOptions = {
  link: FrontLink
  agent: { name: string; settings: AgentSettings; record?: RecordedParts }
  blocking: boolean
  /** The policy in force now for this conversation. */
  policy: (conversation: ConversationId) => Promise<Policy>
  /** The secrets that this process knows, which no record contains (guest-mask.ts). */
  secrets?: readonly string[] | undefined
  /** Names this front and its requests. Default: a random UUID. */
  randomId?: () => string
}

export type Front = {
  /**
   * Before the guest asks its model: reports the results of the last round, sends rounds that the
   * log does not know, and waits for the advice. Undefined: it did not come in time. `prompt`: the
   * name of the user's newest message. `former`: the turn before, if this request shows its results.
   */
  beforeModel(
    turn: GuestTurn,
    history: {
      rounds: readonly ShownRound[]
      hiddenKeys?: readonly string[]
      prompt?: string
      former?: FormerTurn | undefined
    },
    wait: Wait,
  ): Promise<ReceivedAdvice | undefined>
  /**
   * Sends a round and waits until no call waits, at most `waitMs`. The key is final: it counts
   * hidden rounds too. A call that may run is allowed if this front has its claim.
   * `results`: those of the round before that the log may lack. Undefined: the stages did not answer.
   */
  proposeRound(
    turn: GuestTurn,
    round: SentRound,
    wait: Wait & { hides?: boolean; results?: readonly GuestResult[] },
  ): Promise<RoundVerdicts | undefined>
  /** The operator's stops that are in force now for this conversation. */
  stops(conversation: ConversationId): Promise<readonly StopInForce[]>
  /** `keys`: of the rounds of the turn, if they are known. */
  report(
    turn: GuestTurn,
    report: Pick<GuestResults, 'results'> &
      Partial<
        Pick<GuestResults, 'reached' | 'refusal' | 'refusalClass' | 'answered' | 'unjudged'>
      > & {
        phase: 'running' | 'turn_end'
        keys?: readonly string[]
      },
  ): Promise<void>
}

export type Wait = { waitMs: Milliseconds; signal?: AbortSignal | undefined }

/** `until`: the deadline for all messages of an answer, in monotonic time. */
type Until = { inbox: Inbox; until: Milliseconds; signal: AbortSignal | undefined }

export function createFront(options: FrontOptions): Front {
  const { link, agent, blocking, secrets = [], randomId = randomUUID } = options
  const owner = randomId()

  /** The caller closes the inbox. */
  async function begin({ conversation }: GuestTurn): Promise<{ inbox: Inbox; policy: Policy }> {
    const answered = link.turns.use(conversation, () => endOldest(conversation))
    const opening = openInbox(link, conversation)
    try {
      const [inbox, policy] = await Promise.all([opening, options.policy(conversation)])
      const close = () => {
        inbox.close()
        answered()
      }
      return { inbox: { ...inbox, close }, policy }
    } catch (error) {
      answered()
      opening.then(
        (inbox) => inbox.close(),
        () => {},
      )
      throw error
    }
  }

  async function endOldest(conversation: ConversationId): Promise<void> {
    const policy = await options.policy(conversation)
    const turn = { conversation, turnKey: newestTurn, user: null }
    await write(turn, [resultsRecord(turn, { phase: 'turn_end', results: [], policy })])
  }

  async function write(
    { secrets: ofClient }: GuestTurn,
    messages: (GuestRound | GuestResults)[],
  ): Promise<void> {
    if (messages.length === 0) return
    const hidden = [...secrets, ...(ofClient?.() ?? [])]
    const isWhole = agent.record !== 'calls' && hidden.length === 0
    await link.write(isWhole ? messages : await recorded(messages, agent.record, hidden))
  }

  function roundRecord(
    { conversation, turnKey, user }: GuestTurn,
    round: SentRound,
    stamped: { policy: Policy; hides: boolean; isShown: boolean },
  ): GuestRound {
    const { name, settings } = agent
    const of = { conversation, turnKey, user, agent: name, blocking, settings }
    return { type: 'guest-round', ...of, ...round, ...stamped }
  }

  function resultsRecord(
    { conversation, turnKey, user }: GuestTurn,
    {
      former,
      ...fields
    }: Pick<GuestResults, 'phase' | 'results' | 'policy'> &
      Partial<Omit<GuestResults, 'former'>> & { former?: FormerTurn | undefined },
  ): GuestResults {
    return {
      type: 'guest-results',
      conversation,
      turnKey,
      user,
      keys: [],
      hiddenKeys: [],
      prompt: '',
      requestId: '',
      agent: agent.name,
      blocking,
      reached: [],
      refusal: '',
      refusalClass: null,
      answered: false,
      unjudged: [],
      ...fields,
      former: former ?? null,
    }
  }

  function toldIn(
    turn: GuestTurn,
    results: readonly GuestResult[],
    policy: Policy,
  ): GuestResults[] {
    if (results.length === 0) return []
    return [resultsRecord(turn, { phase: 'running', results: [...results], policy })]
  }

  /** Resolves to false if the stages did not answer in time. */
  async function sendAgain(
    turn: GuestTurn,
    rounds: readonly MissingRound[],
    { inbox, policy, waitMs, signal }: Wait & { inbox: Inbox; policy: Policy },
  ): Promise<boolean> {
    let sent: { key: string; size: number }[] = []
    const batch: (GuestRound | GuestResults)[] = []
    for (const { shown, key, after, before } of rounds) {
      const round = { ...shown.make(), key, after }
      const results = ofRound(key, shown.results)
      batch.push(...toldIn(turn, before, policy))
      const size = sizeOf(round, results)
      // More would be dropped: the stage keeps few records that wait for a round. Half of the room
      // has to be free, because many small writes cost more.
      const isFull = !hasRoom(sent, size, 1)
      if (isFull) await write(turn, batch.splice(0))
      while (isFull && sent.length > 0 && !hasRoom(sent, size, 0.5)) {
        const message = await inbox.next(link.clock.monotonic() + waitMs, signal)
        if (message === undefined) return false
        if (message.type !== 'guest-advice') continue
        sent = sent.slice(sent.findIndex((one) => one.key === message.key) + 1)
      }
      sent.push({ key, size })
      batch.push(roundRecord(turn, round, { policy, hides: false, isShown: true }))
      batch.push(...toldIn(turn, results, policy))
    }
    await write(turn, batch)
    return true
  }

  /** A call waits if its claim has no answer in time. */
  async function claimed(
    { conversation }: GuestTurn,
    verdicts: RoundVerdicts,
    wait: Until,
  ): Promise<RoundVerdicts> {
    const { place } = verdicts
    const ordinals = verdicts.calls.flatMap(({ verdict, ordinal }) =>
      verdict === 'allow' ? [ordinal] : [],
    )
    if (ordinals.length === 0 || place === undefined) return verdicts
    const claim = randomId()
    try {
      await link.write([{ type: 'guest-claim', conversation, ...place, ordinals, owner, claim }])
    } catch (error) {
      // Older processes of the fleet answer no claim, and their fronts make none.
      if (error instanceof WeirError && error.code === 'codec.newer-schema') return verdicts
      throw error
    }
    const won = await claimedBy(claim, wait)
    const calls = verdicts.calls.map((call): GuestCallVerdict => {
      if (call.verdict !== 'allow' || won?.includes(call.ordinal)) return call
      return won === undefined
        ? { ...call, verdict: 'pending', code: '' }
        : { ...call, verdict: 'deny', text: givenBefore, code: givenBeforeReason }
    })
    return { ...verdicts, calls, isSettled: verdicts.isSettled && won !== undefined }
  }

  return {
    async beforeModel(turn, { rounds, hiddenKeys = [], prompt = '', former }, { waitMs, signal }) {
      const { inbox, policy } = await begin(turn)
      try {
        const request = randomId()
        for (let times = 0; ; times += 1) {
          // The stage must not take a repeat for a second request of the guest.
          const requestId = times === 0 ? request : `${request}.${times}`
          await write(turn, [
            resultsRecord(turn, {
              phase: 'before_model',
              keys: rounds.map(({ key }) => key),
              hiddenKeys: [...hiddenKeys],
              results: rounds.at(-1)?.results ?? [],
              prompt,
              former,
              requestId,
              policy,
            }),
          ])
          const until = link.clock.monotonic() + waitMs
          const advice = await adviceFor(requestId, { inbox, until, signal })
          if (advice === undefined) return undefined
          const missing = missingOf(rounds, advice)
          // A turn that was stopped is over, with advice. A request that does not count has none.
          if (!advice.isOpen) return { advice, isJudged: advice.action !== 'none' }
          if (missing.length === 0) return { advice, isJudged: true }
          if (times === guestCatchUpsMax) return { advice, isJudged: false }
          if (!(await sendAgain(turn, missing, { inbox, policy, waitMs, signal }))) return undefined
        }
      } finally {
        inbox.close()
      }
    },

    async proposeRound(turn, round, { waitMs, signal, hides = false, results = [] }) {
      const { inbox, policy } = await begin(turn)
      try {
        await write(turn, [
          ...toldIn(turn, results, policy),
          roundRecord(turn, round, { policy, hides, isShown: false }),
        ])
        const { clock } = link
        const until = clock.monotonic() + waitMs
        const verdicts = await verdictsOn({ ...round, ...turn }, { inbox, until, signal })
        if (verdicts === undefined || !blocking) return verdicts
        const least = clock.monotonic() + limits.guestAdviceMs
        return await claimed(turn, verdicts, { inbox, until: Math.max(until, least), signal })
      } finally {
        inbox.close()
      }
    },

    async stops(conversation) {
      const { stops } = await options.policy(conversation)
      return stops
    },

    async report(turn, { keys = [], ...fields }) {
      const policy = await options.policy(turn.conversation)
      await write(turn, [resultsRecord(turn, { ...fields, keys: [...keys], policy })])
      if (fields.phase === 'turn_end') link.turns.leave(turn.conversation)
    },
  }
}

/** Most guests have whole texts without a secret, so the readers of texts are loaded with their first use. */
async function recorded(
  messages: readonly (GuestRound | GuestResults)[],
  parts: RecordedParts | undefined,
  secrets: readonly string[],
): Promise<(GuestRound | GuestResults)[]> {
  mask ??= (await import('./guest-mask.ts')).guestMask
  const masked = messages.map(mask(secrets))
  if (parts !== 'calls') return masked
  unrecorded ??= (await import('./history/unrecorded.ts')).recordOfCalls
  return masked.map(unrecorded)
}

let mask: typeof import('./guest-mask.ts').guestMask | undefined
let unrecorded: typeof import('./history/unrecorded.ts').recordOfCalls | undefined

function hasRoom(sent: readonly { size: number }[], size: number, part: number): boolean {
  const total = sent.reduce((sum, one) => sum + one.size, size)
  return sent.length < part * guestRoundsSentMax && total <= part * guestRoundsSentCharsMax
}

/** The characters of a round. */
function sizeOf({ response }: SentRound, results: readonly GuestResult[]): number {
  const { text, reasoning, calls } = response
  const said = calls.reduce((sum, { raw }) => sum + raw.length, text.length + reasoning.length)
  return results.reduce((sum, result) => sum + result.text.length, said)
}

async function adviceFor(
  requestId: string,
  { inbox, until, signal }: Until,
): Promise<GuestAdvice | undefined> {
  for (;;) {
    const message = await inbox.next(until, signal)
    if (message === undefined) return undefined
    if (message.type === 'guest-advice' && message.requestId === requestId) return message
  }
}

/**
 * The claimed calls whose verdict this front may give. The answer to another claim of this front on the
 * round may lack some of them. Undefined: no answer came in time.
 */
async function claimedBy(
  claim: string,
  { inbox, until, signal }: Until,
): Promise<readonly number[] | undefined> {
  for (;;) {
    const message = await inbox.next(until, signal)
    if (message === undefined) return undefined
    if (message.type === 'guest-claimed' && message.claim === claim) return message.ordinals
  }
}

/** `before`: the results of the round before, if the log knows that round. */
type MissingRound = { shown: ShownRound; before: GuestResult[] } & Pick<SentRound, 'key' | 'after'>

/** The rounds that the log does not know, oldest first, with their final keys. */
function missingOf(
  rounds: readonly ShownRound[],
  { unknown, hidden }: GuestAdvice,
): MissingRound[] {
  if (unknown.length === 0) return []
  const counts = hiddenCountsOf(hidden)
  const names = new Set(unknown)
  const keys = rounds.map(({ key }) => finalKey(key, counts))
  const ids = keys.map(idsOfKey)
  return rounds.flatMap((shown, at) => {
    const key = keys[at] ?? ''
    if (!names.has(key)) return []
    const isAlone = ids.indexOf(ids[at] ?? '') === ids.lastIndexOf(ids[at] ?? '')
    const last = keys[at - 1] ?? ''
    const before = names.has(last) ? [] : ofRound(last, rounds[at - 1]?.results ?? [])
    return [{ shown, key, before, after: isAlone ? last : null }]
  })
}

/** `key`: final. */
export function ofRound(key: string, results: readonly GuestResult[]): GuestResult[] {
  return results.map((result) => ({ ...result, key }))
}

export function hiddenCountsOf(hidden: GuestAdvice['hidden']): HiddenCounts {
  return new Map(hidden.map(({ hash, count }) => [hash, count]))
}

/** The numbers in keys of rounds that are over, by their words. */
export function overCountsOf(over: GuestAdvice['over']): HiddenCounts {
  return new Map(over.map((key) => [hashOfKey(key), numberOfKey(key)]))
}

/** The key with the hidden rounds of the same words counted. */
export function finalKey(key: string, counts: HiddenCounts): string {
  const words = hashOfKey(key)
  const hidden = counts.get(words) ?? 0
  return hidden === 0 ? key : roundKey(words, numberOfKey(key) + hidden)
}

/**
 * Reads activity until no call of the round waits. Keeps FRONT-3. A reader that is late also delivers
 * older records, and the keys of another turn are the same.
 */
async function verdictsOn(
  { key, turnKey, response }: Pick<SentRound, 'key' | 'response'> & Pick<GuestTurn, 'turnKey'>,
  { inbox, until, signal }: Until,
): Promise<RoundVerdicts | undefined> {
  const seen = new Map<string, readonly GuestCallVerdict[]>()
  let place: HistoryPlace | undefined
  let pending: RoundVerdicts['pending'] = []
  const newest = (): RoundVerdicts | undefined => {
    const calls = place === undefined ? undefined : seen.get(nameOf(place))
    if (calls === undefined) return undefined
    const isSettled = calls.every(({ verdict }) => verdict !== 'pending')
    return { calls, pending, place, isSettled, notCounted: undefined }
  }
  for (;;) {
    const message = await inbox.next(until, signal)
    if (message === undefined) return newest()
    switch (message.type) {
      case 'round-started':
        if (message.key === key && message.turnKey === turnKey) place = placeOf(message)
        break
      case 'guest-verdicts':
        seen.set(nameOf(message), message.calls)
        break
      case 'approval-pending':
        if (place !== undefined && nameOf(place) === nameOf(message))
          pending = message.calls.map((call) => ({ ...call, until: message.until }))
        break
      case 'guest-advice':
        // Another front's name of the turn is in it, if that front wrote the round first.
        if (
          message.key === key &&
          (message.turnKey === turnKey || (place && nameOf(place)) === nameOf(message))
        )
          return overVerdicts(message, response, seen.get(nameOf(message)))
        break
      case 'guest-claimed':
        break // of another answer
      default:
        message satisfies never
    }
    const verdicts = newest()
    if (verdicts?.isSettled) return verdicts
  }
}

const neverAllowed = { text: roundIsOver, code: roundOverReason, guard: '' }

/**
 * The round is over, or it does not count. A call that waited until the end of its round has no
 * refusal, and nobody allowed it: only a verdict that was `seen` lets a call run (R6).
 */
function overVerdicts(
  { denied, isOpen, reason, turn, round }: GuestAdvice,
  { calls }: SentRound['response'],
  seen: readonly GuestCallVerdict[] = [],
): RoundVerdicts {
  if (!isOpen)
    return { calls: [], pending: [], place: undefined, isSettled: true, notCounted: reason }
  const texts = new Map(denied.map((call) => [call.ordinal, call]))
  return {
    calls: calls.map(({ ordinal, id, name }) => {
      const own = seen.find((call) => call.ordinal === ordinal)
      if (own?.verdict === 'allow') return own
      const { text, code, guard } = texts.get(ordinal) ?? neverAllowed
      const place = { ordinal, callId: id, name }
      return { ...place, text, code, guard, verdict: 'deny', until: 0, isOver: false }
    }),
    pending: [],
    place: { turn, round },
    isSettled: true,
    notCounted: undefined,
  }
}

function placeOf({ turn, round }: HistoryPlace): HistoryPlace {
  return { turn, round }
}

function nameOf({ turn, round }: HistoryPlace): string {
  return `${turn} ${round}`
}
