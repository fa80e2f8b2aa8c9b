// One attempt to get an answer from the model, from its preparation to the record of its result.
// Owns: the order of the records.
// Does not own: retries (reducer.ts), which attempts run (performer.ts), reading an answer
// (answer.ts), the meaning of the provider's bytes (providers/).
//
// attempt-started and all parts are acknowledged before attempt-finished (R4), which carries the
// last parts itself. The provider is called meanwhile: an unfinished attempt costs nothing.
// The provider is not called without the history, readable limits, or time left (R6).
// Whole or nothing: a cut, stalled or broken answer is attempt-failed, and none of its
// parts counts. So is an error of our own code: the round would wait for nothing (R8).
// After its stop it writes nothing more, but for the failure if an operator's stop ended
// it. Earlier records are harmless: parts count only if a decision names them.
// It waits for its start in the line of the provider's account, then for one of the process's
// stream places. Only then it reads its history. So waiting attempts hold no history in memory.

import { type Agent, type Agents, findTool, textCallsOf } from '../../../shared/agents/agents.ts'
import { hasInForce, ruleFault } from '../../../shared/codec/codec.ts'
import type { AnsweredText, EchoCheck } from '../../../shared/contract/call/echo-check.ts'
import { originsIn } from '../../../shared/contract/history/fork.ts'
import { type AttemptId, type ConversationId, rootOf } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  AttemptFailed,
  AttemptFinished,
  Declaration,
  HistoryEntry,
  ModelRequest,
  PartEvent,
  Policy,
  Usage,
} from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { tenantOf, type WeightOf } from '../../../shared/contract/tenant.ts'
import { originKey } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { lazyChild, type WorkLog } from '../../../shared/lib/log/lazy-log.ts'
import type { Slots } from '../../../shared/lib/slots.ts'
import { version } from '../../../shared/lib/version.ts'
import { freeSlot, type Slot, unknownEnd } from '../../../shared/runtime/budgets/account-lines.ts'
import type { BudgetReaders } from '../../../shared/runtime/budgets/budget-readers.ts'
import { stopOfTurn } from '../../../shared/runtime/settings/stops.ts'
import { type Failed, failedBy, type ProviderRequest } from '../../../shared/wire/exchange.ts'
import { contextFull, isContextEnd } from '../../../shared/wire/faults/provider-errors.ts'
import { shortReason } from '../../../shared/wire/faults/short-reason.ts'
import { historyTooLarge } from '../../../shared/wire/request/history-size.ts'
import { withReminder } from '../degenerate/reminder.ts'
import type { AttemptTask } from '../reducer.ts'
import {
  type AcceptedForms,
  inAcceptedForm,
  noteOutcome,
  refusedParts,
  type SentRequest,
} from './accepted-form.ts'
import { type Answer, PartWriter, streamAnswer } from './answer.ts'
import { type BudgetsInForce, withTreeCaps } from './budgets/in-force.ts'
import { type Reservation, reserve, usedNothing } from './budgets/reservation.ts'
import { slotEndOf, slotOf } from './budgets/slot.ts'
import { historyWaitMs, readContents } from './contents.ts'
import { earlierTexts } from './echo-check.ts'
import { withSummary } from './history-summary.ts'
import { instructionsOf } from './instructions.ts'
import {
  checkBeforeRequest,
  StoppedByOperator,
  stoppedAttempt,
  stopTarget,
} from './operator-stops.ts'
import { policyInForce } from './policy-in-force.ts'
import type { Connect } from './providers/providers.ts'
import {
  afterShortening,
  type Shortened,
  type Shortening,
  shortenedHistory,
  summarisedThrough,
  type WrittenSummaries,
} from './shorten-history.ts'
import { orStopped, stopped } from './wire/abortable-wait.ts'

/** Bytes of the parts that attempt-finished carries, because they are not acknowledged. */
const restBytesMax = 192 * 1024
/**
 * The wait before another attempt if the provider names none: the first, doubled by each failure,
 * and the longest.
 */
const retryBackoffMs = 1_000
export const retryBackoffMsMax = 30_000

export type GatewayOptions = {
  agents: Agents
  /** Called once for each attempt. */
  connect: Connect
  /** Called for each answer that may hold calls as text. */
  echoOf: EchoCheck
  /**
   * The history of a conversation is removed after this time without a new entry. Undefined: never.
   */
  historyIdleMs?: Milliseconds | undefined
  /**
   * Places for streams. One object serves all partitions of a process. Default:
   * `limits.modelStreamsMax`.
   */
  streams?: Slots
  /** One object serves all stages and partitions of a process. Default: a new one. */
  budgets?: BudgetReaders | undefined
  /** The shares of tenants that wait for one account. Default: all are equal. */
  weightOf?: WeightOf | undefined
}

/** The shared state of a process's attempts. */
export type Gateway = GatewayOptions & {
  streams: Slots
  /** Remembers the requests that each agent's provider accepts, so the next one is right at once. */
  forms: AcceptedForms
  summaries: WrittenSummaries
  budgets: BudgetReaders
  weightOf: WeightOf
}

/** `opened`: resolves when model-opened is acknowledged. */
type Place = Pick<Attempt, 'gateway' | 'context' | 'opened'>

/** Never rejects. An error in it is a failed attempt, because its round needs an end. */
export async function runAttempt(
  { gateway, context, opened }: Place,
  task: AttemptTask,
  stop: AbortSignal,
): Promise<void> {
  const { conversation, turn, round } = task.request
  const id = { conversation, turn, round, attempt: context.randomId() }
  const log = lazyChild(context.log, id)
  const { agents, weightOf, streams } = gateway
  const { lines } = gateway.budgets
  const agent = agents.get(task.request.agent)
  const slot = await slotOf({ lines, context, agent, task, attempt: id.attempt, weightOf, stop })
  const own: Attempt = { gateway, context, opened, task, stop, id, log, slot: slot ?? freeSlot }
  const free = slot === undefined ? stopped : await streamPlace(streams, conversation, stop)
  if (free !== stopped) {
    try {
      const observed = await observe(own)
      if (observed !== undefined && !stop.aborted) return void (await observed.write())
    } catch (error) {
      if (!stop.aborted) await writeBroken(own, error)
    } finally {
      free()
      await own.slot.settle(unknownEnd)
    }
  }
  await own.slot.settle(unknownEnd)
  const why: unknown = stop.reason
  if (why instanceof StoppedByOperator) await writeStopped(own, why)
}

async function writeStopped(attempt: Attempt, { stop }: StoppedByOperator): Promise<void> {
  try {
    await attempt.context.write('self', [attemptFailed(attempt, stoppedAttempt(stop))])
  } catch (error) {
    attempt.log.warn({ err: error }, 'the end of a stopped attempt could not be written')
  }
}

/** If the bus has failed, this write fails too, and the runtime will stop. */
async function writeBroken(attempt: Attempt, error: unknown): Promise<void> {
  const name = error instanceof Error ? error.name : typeof error
  const reason = `the gateway failed on the attempt (${name})`
  const failed = failedBy('provider.stream', 'internal', reason, true)
  try {
    await attempt.context.write('self', [attemptFailed(attempt, failed)])
    attempt.log.error({ err: error }, reason)
  } catch {
    attempt.log.warn({ err: error }, 'attempt abandoned: its records could not be written')
  }
}

/**
 * Resolves to a function that returns the place, or to `stopped` if the attempt
 * was stopped first.
 */
function streamPlace(
  streams: Slots,
  conversation: ConversationId,
  stop: AbortSignal,
): Promise<(() => void) | typeof stopped> {
  return new Promise((resolve) => {
    let isServed = false
    const leave = (): void => {
      leaveLine()
      resolve(stopped)
    }
    const take = (free: () => void): void => {
      isServed = true
      stop.removeEventListener('abort', leave)
      resolve(free)
    }
    const leaveLine = streams.wait(conversation, take, tenantOf(conversation))
    if (!isServed) stop.addEventListener('abort', leave, { once: true })
  })
}

type Attempt = {
  gateway: Gateway
  context: PerformerContext
  opened: Promise<void>
  task: AttemptTask
  stop: AbortSignal
  id: AttemptId
  log: WorkLog
  /** Its start in the line of the provider's account. */
  slot: Slot
}

/**
 * Runs the steps and returns the write of the result. Undefined: nothing is left to write. Rejects
 * if a write failed.
 */
async function observe(attempt: Attempt): Promise<Ending | undefined> {
  const { context, stop, id } = attempt
  if (attempt.slot.isRefused) return ending(attempt, attemptFailed(attempt, tooManyWait))
  const ready = await orStopped(stop, prepare(attempt))
  if (ready === stopped) return undefined
  if (ready.kind === 'failed') return ending(attempt, attemptFailed(attempt, ready))

  if (isExpired(attempt)) return undefined
  const started = context.write('self', [
    { type: 'attempt-started', ...id, owner: context.owner, weir: version() },
  ])
  started.catch(() => {}) // the ending gets the error
  const end = await requestModel(attempt, ready)
  await started
  return end
}

type Ending = { write: () => Promise<unknown> }

async function requestModel(attempt: Attempt, ready: Ready): Promise<Ending | undefined> {
  const { gateway, context, task, stop, id, log } = attempt
  const free = await checkBeforeRequest(context, stopTarget(task.request))
  if (stop.aborted || isExpired(attempt)) return undefined
  if (free.kind === 'failed') return ending(attempt, attemptFailed(attempt, free))
  const reservation = await orStopped(stop, reserved(attempt, ready, free))
  if (reservation === stopped || isExpired(attempt)) return undefined
  if (reservation?.kind === 'failed') return ending(attempt, attemptFailed(attempt, reservation))
  log.debug(
    {
      failures: task.failures,
      tools: ready.declarations.length,
      entries: ready.request.history.length,
    },
    'calling the provider',
  )

  const parts = new PartWriter(context.clock, async (i, events) => {
    if ((await orStopped(stop, attempt.opened)) === stopped) return
    await context.write('response', [{ type: 'part', ...id, i, events }])
  })
  stop.addEventListener('abort', () => parts.drop(), { once: true })
  const sent = inAcceptedForm(gateway.forms, task, ready)
  const { connect } = gateway
  const { stallMs, firstByteMs } = task.request.settings
  const answer = await streamAnswer({
    connect,
    ...sent,
    stallMs,
    firstByteMs,
    clock: context.clock,
    parts,
    stop,
    log,
  })
  const finished = answer === stopped ? stopped : await orStopped(stop, finishParts(attempt, parts))
  if (answer === stopped || finished === stopped) {
    await parts.stop()
    return undefined
  }
  noteOutcome(gateway.forms, sent, answer)
  const settled = attempt.slot.settle(slotEndOf(answer))
  const ended = answer.kind === 'failed' ? answer : failureOf(answer)
  if (ended === undefined) {
    const { usage } = answer as Answer
    const end = ending(attempt, conclusion(attempt, ready, answer as Answer, finished), finished)
    if (reservation === undefined) return end
    // At the same time, so a bus can write both at once. A lost settle counts in full.
    return { write: () => Promise.all([reservation.settle(boundedUsage(usage)), end.write()]) }
  }
  if (usedNothing(ended, finished.parts)) await reservation?.release()
  await settled // before the round's next attempt
  const failed = await afterShortening(shorteningOf(attempt), ready.agent, ready.shortened, ended)
  if (stop.aborted) return undefined
  return ending(attempt, attemptFailed(attempt, failed, sent), finished)
}

/** Undefined: no budget concerns the request. */
async function reserved(
  { gateway, context, task, id }: Attempt,
  { agent, request, policy }: Pick<Ready, 'agent' | 'request'> & Partial<Pick<Ready, 'policy'>>,
  free: BudgetsInForce,
): Promise<Reservation | Failed | undefined> {
  const { tree } = policy ?? task.request.settings.policy
  const inForce = withTreeCaps(free, tree)
  if (inForce.budgets.length === 0) return undefined
  const { expiresAt } = task.request
  try {
    const { ledgers: reader } = gateway.budgets
    return await reserve({ context, reader, id, agent, request, inForce, expiresAt })
  } catch (error) {
    context.log.warn({ err: error }, 'the topic budgets cannot be used')
    return failedBy('budget.unreadable', 'transient', 'the topic budgets cannot be used')
  }
}

/** `rest`: the last parts, still to be written. `carried`: those that attempt-finished carries. */
type FinishedParts = { parts: number; rest: PartEvent[][]; carried: PartEvent[][] }

/** The last parts go with the ending, which saves one write for each answer. */
async function finishParts(
  { context, opened }: Attempt,
  parts: PartWriter,
): Promise<FinishedParts> {
  if (context.writeWhole !== undefined) return { ...(await parts.finishWithRest()), carried: [] }
  await opened
  if (parts.restBytes > restBytesMax || !hasInForce('attempt-finished', 'rest'))
    return { parts: await parts.finish(), rest: [], carried: [] }
  const { isSent, ...ahead } = parts.finishAhead()
  return { parts: ahead.parts, rest: ahead.rest.slice(isSent ? 1 : 0), carried: ahead.rest }
}

/** The last parts are in one atomic write with the ending, or the ending carries them. */
function ending(
  { context, id }: Attempt,
  message: AttemptFailed | AttemptFinished,
  { parts, rest }: Pick<FinishedParts, 'parts' | 'rest'> = { parts: 0, rest: [] },
): Ending {
  const { writeWhole } = context
  const first = parts - rest.length
  const last = rest.map((events, n) => ({ type: 'part' as const, ...id, i: first + n, events }))
  if (last.length === 0) return { write: () => context.write('self', [message]) }
  if (writeWhole !== undefined) {
    const records = last.map((part) => ({ to: 'response' as const, message: part }))
    return { write: () => writeWhole([...records, { to: 'self', message }]) }
  }
  return {
    write: () => Promise.all([context.write('response', last), context.write('self', [message])]),
  }
}

/** The reason why an answer that has ended does not count. Undefined: it does. */
function failureOf(answer: Answer): Failed | undefined {
  if (answer.stop === 'cut') return cutOff
  // A text that ends at the context limit is still the best possible reply. Calls would be cut too,
  // and there would be no room for their results.
  return isContextEnd(answer.finish) && !answer.isReply
    ? contextFull(`the provider says ${answer.finish}`)
    : undefined
}

function shorteningOf(attempt: Attempt): Shortening {
  const { gateway, context, task, stop, id, log } = attempt
  const { agents, connect, summaries } = gateway
  return {
    agents,
    connect,
    summaries,
    context,
    task,
    stop,
    log,
    async reserve(asked) {
      const free = await checkBeforeRequest(context, stopTarget(task.request))
      if (free.kind === 'failed') return free
      const own = { ...attempt, id: { ...id, attempt: `${id.attempt}-summary` } }
      return reserved(own, asked, free)
    },
  }
}

/** The result of an answer that reached its end and counts. */
function conclusion(
  attempt: Attempt,
  ready: Ready,
  answer: Answer,
  { parts, carried }: FinishedParts,
): AttemptFinished {
  const { id, log } = attempt
  const { finish, stop: stopReason } = answer
  const usage = boundedUsage(answer.usage)
  const declarations = ready.declarations.filter((declaration) => answer.mentions(declaration.name))
  log.debug({ parts, finish, usage }, 'the model answered')
  const callsAsText = ready.agent.model.toolCalls === 'text'
  const textCalls = textCallsOf(ready.agent)
  const answered = { text: answer.text, offered: declarations, callsAsText }
  // Also next to native calls: the accumulator may find that they are none.
  const mayHoldCalls = textCalls !== 'off' && declarations.length > 0
  return {
    type: 'attempt-finished',
    ...id,
    parts,
    finish,
    stop: stopReason,
    usage,
    declarations,
    policy: ready.policy,
    callsAsText,
    textCalls,
    echoOf: mayHoldCalls ? echoIn(attempt, answered, ready.request.history) : null,
    rest: carried,
  }
}

/** A check that fails counts as an echo: nobody knows whether the text is one. */
function echoIn(
  { gateway, log }: Attempt,
  answered: AnsweredText,
  history: readonly HistoryEntry[],
): string | null {
  try {
    return gateway.echoOf(answered, earlierTexts(history))
  } catch (error) {
    log.error({ err: error }, 'the search for echoes failed, so no call in this text runs')
    return 'perhaps an earlier text, which could not be searched,'
  }
}

type Ready = {
  kind: 'ready'
  agent: Agent
  declarations: Declaration[]
  request: ProviderRequest
  policy: Policy
  shortened: Shortened
}

/**
 * Collects everything that the call of the provider needs. Never rejects, because its result is
 * ignored after a stop.
 */
async function prepare(attempt: Attempt): Promise<Ready | Failed> {
  const { gateway, context, task, log } = attempt
  const { request } = task
  const { conversation, turn, historyRound, settings, nudge, callsLeft } = request
  const agent = gateway.agents.get(request.agent)
  if (agent === undefined) {
    const reason = missingAgent(request.agent, gateway.agents)
    log.warn({ agent: request.agent }, `a turn cannot go on: ${reason}`)
    return failedBy('agent.unknown', 'internal', reason)
  }

  const declarations = offeredTools(gateway.agents, request, log)
  const shortening = shorteningOf(attempt)
  try {
    const entries = await context.history(
      { conversation, turn, round: historyRound },
      historyWaitMs,
      () => summarisedThrough(shortening, agent),
    )
    if (entries === undefined)
      return failedBy(
        'history.missing',
        'transient',
        `history entry ${turn}/${historyRound} did not come within ${historyWaitMs} ms`,
      )
    const target = { agent: request.agent, conversation }
    const inForce = await policyInForce(context, { ...target, own: settings.policy, log })
    if (typeof inForce === 'string') return failedBy('policies.unreadable', 'transient', inForce)
    const forkedFrom = await originOf(attempt, inForce)
    const policy = { ...inForce, calledBy: inForce.calledBy ?? [], forkedFrom }
    const stop = stopOfTurn(policy.stops)
    if (stop !== undefined) return stoppedAttempt(stop)
    const dropped = ruleFault('attempt-finished', { declarations, policy })
    if (dropped !== undefined) return failedBy('codec.newer-schema', 'internal', dropped)
    const whole = entries.filter((entry) => entry.type === 'history-entry')
    const shortened = await shortenedHistory(shortening, agent, whole)
    const history = withSummary(shortened.entries, shortened.summary)
    const tooLarge = historyTooLarge(history)
    if (tooLarge !== undefined) return await afterShortening(shortening, agent, shortened, tooLarge)
    const contents = await readContents(context, history)
    if (typeof contents === 'string') return failedBy('history.missing', 'internal', contents)
    const system = instructionsOf(agent, settings)
    const providerRequest = {
      ...(system !== undefined && { system }),
      nudge: task.degenerate ? withReminder(nudge) : nudge,
      tools: declarations,
      textOnly: callsLeft === 0,
      history,
      contents,
      rebuilt: task.rebuilt,
    }
    return { kind: 'ready', agent, declarations, request: providerRequest, policy, shortened }
  } catch (error) {
    if (error instanceof WeirError && error.code === 'history.missing')
      return failedBy('history.missing', 'internal', error.message)
    const reason = 'the tables history and policies cannot be read'
    log.warn({ err: error }, reason)
    return failedBy('policies.unreadable', 'transient', reason)
  }
}

/** The conversation whose memory the guards of this round continue. Null: none. */
async function originOf({ context, task }: Attempt, { guards }: Policy): Promise<string | null> {
  if (guards.length === 0) return null
  const fork = await context.kept(originKey(rootOf(task.request.conversation)), 0)
  return originsIn(fork).at(-1)?.conversation ?? null
}

/**
 * A turn may also come from another process with other agent files. The list of all agents could be
 * long and belongs in the operator's log.
 */
function missingAgent(name: string, agents: Agents): string {
  const those = agents.size === 1 ? `'${[...agents.keys()][0]}' only` : `${agents.size} others`
  return `the turn is of agent '${name}', and the process that is to ask its model has ${those}; start Weir with the agent file of '${name}', and ask again`
}

/**
 * The tools of the request that this gateway's agent file declares in exactly this form. The others
 * are not offered (R6).
 */
function offeredTools(agents: Agents, request: ModelRequest, log: WorkLog): Declaration[] {
  return request.tools.flatMap((ref) => {
    const tool = findTool(agents, request.agent, ref)
    if (tool === undefined)
      log.warn(
        { tool: ref.name, hash: ref.hash },
        "tool not offered: this process's agent file does not declare it",
      )
    return tool === undefined ? [] : [tool.declaration]
  })
}

/**
 * Writes nothing, because time is the log's: the tick at this time ends the round, and our clock
 * does not matter.
 */
function isExpired({ context, task, log }: Attempt): boolean {
  const now = context.clock.now()
  if (now < task.request.expiresAt) return false
  log.warn({ expiresAt: task.request.expiresAt, now }, 'no attempt: the round has expired')
  return true
}

/** Bounds the provider's counts: the sum of a turn must fit into a record. */
function boundedUsage({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
}: Usage): Usage {
  const bounded = (tokens: number) => Math.min(tokens, limits.usageTokensMax)
  return {
    inputTokens: bounded(inputTokens),
    outputTokens: bounded(outputTokens),
    cacheReadTokens: bounded(cacheReadTokens),
    cacheWriteTokens: bounded(cacheWriteTokens),
  }
}

const tooManyWait = failedBy(
  'provider.unavailable',
  'transient',
  `${limits.slotsWaitingMax} requests wait for the account of this provider`,
)

const cutOff = failedBy(
  'provider.stream',
  'transient',
  'the stream ended before the provider said why the model stopped',
)

/** `sent`: the request that the provider got. Undefined: it got none. */
function attemptFailed(
  { task, id, log }: Attempt,
  failed: Failed,
  sent?: SentRequest,
): AttemptFailed {
  const { code } = failed
  // The model had its reminder.
  const retryable = failed.retryable && !(failed.class === 'degenerate' && task.degenerate)
  // A provider that names a wait of zero or less names none. Otherwise all tries would fail within
  // a moment.
  const retryAfterMs =
    failed.retryAfterMs || Math.min(retryBackoffMs * 2 ** task.failures, retryBackoffMsMax)
  const { why, ...refused } = refusedParts(task, failed, sent)
  const reason = shortReason([...why, failed.reason].join(': '))
  log.info(
    { code, class: failed.class, reason, retryable, retryAfterMs, ...refused },
    'the attempt failed',
  )
  return {
    type: 'attempt-failed',
    ...id,
    reason,
    class: failed.class,
    retryable,
    retryAfterMs,
    historyShortened: failed.historyShortened ?? false,
    ...refused,
  }
}
