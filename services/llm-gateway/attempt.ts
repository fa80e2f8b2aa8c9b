// One attempt to get an answer from the model, from its preparation to the observation of how it
// went. Owns: the order of what is written. Does not own: whether there is another attempt
// (reducer.ts), which attempts run (performer.ts), how an answer is read (answer.ts), what the
// provider's bytes mean (providers/).
//
// ATTEMPT-1. attempt-started is acknowledged before the provider is called, and all parts before
//     attempt-finished (R4).
// ATTEMPT-2. No history, no readable limits, no time left: no call (R6).
// ATTEMPT-3. Whole or nothing: what was cut, stalled or spoilt is attempt-failed, and no part of it
//     counts.
// ATTEMPT-4. After it was told to stop it writes nothing more. What it wrote before is harmless:
//     parts count only when a decision names them.
// ATTEMPT-5. It waits for one of the process's places for streams before it reads its history: so
//     many answers, and no more, are in memory at once. Who waits is served in order.

import type { Logger } from 'pino'
import { type Agent, type Agents, findTool } from '../../shared/agents/agents.ts'
import type { AttemptId, ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AttemptFailed,
  AttemptFinished,
  Declaration,
  ModelRequest,
  Policy,
  Usage,
} from '../../shared/contract/messages.ts'
import type { PerformerContext } from '../../shared/contract/performer.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Slots } from '../../shared/lib/slots.ts'
import { version } from '../../shared/lib/version.ts'
import { type Answer, streamAnswer } from './answer.ts'
import { PartWriter } from './part-writer.ts'
import { policyInForce } from './policy-in-force.ts'
import { contextFull, historyTooLarge, isContextEnd } from './providers/context-full.ts'
import {
  inPlainText,
  type Obstacle,
  obstacleIn,
  type PlainLessons,
} from './providers/plain-request.ts'
import type { Connect, Failed, ProviderRequest } from './providers/provider.ts'
import { shortReason } from './providers/short-reason.ts'
import type { AttemptTask } from './reducer.ts'
import { orStopped, stopped } from './wire/abortable-wait.ts'

export type GatewayOptions = {
  agents: Agents
  /** Called once for each attempt. */
  connect: Connect
  /**
   * After how long without a new entry the history of a conversation is taken away; default: the
   * setting `retention`'s.
   */
  historyIdleMs?: Milliseconds | undefined
  /**
   * Places for streams; one object serves all partitions of a process. Default:
   * `limits.modelStreamsMax`.
   */
  streams?: Slots
}

/** What the attempts of a process share. */
export type Gateway = GatewayOptions & {
  streams: Slots
  /** Agents whose providers want it so are asked in plain text at once. */
  plainLessons: PlainLessons
}

/**
 * Never rejects. A write that fails ends it with a line in the log: the bus has given up, and so
 * will the runtime.
 */
export async function runAttempt(
  gateway: Gateway,
  context: PerformerContext,
  task: AttemptTask,
  stop: AbortSignal,
): Promise<void> {
  const { conversation, turn, round } = task.request
  const id = { conversation, turn, round, attempt: context.randomId() }
  const log = context.log.child(id)
  const free = await streamPlace(gateway.streams, conversation, stop)
  if (free === stopped) return
  try {
    const observed = await observe({ gateway, context, task, stop, id, log })
    if (observed === undefined || stop.aborted) return
    await observed.write()
  } catch (error) {
    log.warn({ err: error }, 'the attempt was given up: it could not be written')
  } finally {
    free()
  }
}

/** Keeps ATTEMPT-5. How to give the place back; `stopped`: nobody wanted it any more. */
function streamPlace(
  streams: Slots,
  conversation: ConversationId,
  stop: AbortSignal,
): Promise<(() => void) | typeof stopped> {
  return new Promise((resolve) => {
    const leave = (): void => {
      leaveLine()
      resolve(stopped)
    }
    stop.addEventListener('abort', leave, { once: true })
    const leaveLine = streams.wait(conversation, (free) => {
      stop.removeEventListener('abort', leave)
      resolve(free)
    })
  })
}

type Attempt = {
  gateway: Gateway
  context: PerformerContext
  task: AttemptTask
  stop: AbortSignal
  id: AttemptId
  log: Logger
}

/**
 * The steps; what remains is to write how it went. Undefined: there is nothing to say. Rejects when
 * something could not be written.
 */
async function observe(attempt: Attempt): Promise<{ write: () => Promise<unknown> } | undefined> {
  const { gateway, context, task, stop, id, log } = attempt
  const ready = await orStopped(stop, prepare(attempt))
  if (ready === stopped) return undefined
  if (ready.kind === 'failed') return ending(attempt, attemptFailed(attempt, ready))

  if (isExpired(attempt)) return undefined
  await context.write('self', [
    { type: 'attempt-started', ...id, owner: context.owner, weir: version() },
  ])
  if (stop.aborted || isExpired(attempt)) return undefined
  log.debug(
    {
      failures: task.failures,
      tools: ready.declarations.length,
      entries: ready.request.history.length,
    },
    'asking the model',
  )

  const parts = new PartWriter(context.clock, (i, events) =>
    context.write('response', [{ type: 'part', ...id, i, events }]),
  )
  stop.addEventListener('abort', () => parts.drop(), { once: true })
  const asked = inTakenForm(attempt, ready)
  const { connect } = gateway
  const { stallMs } = task.request.settings
  const answer = await streamAnswer({
    connect,
    ...asked,
    stallMs,
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
  const { agent, obstacle, isPlain } = asked
  if (obstacle !== undefined) gateway.plainLessons.note({ agent, obstacle, isPlain, answer })
  if (answer.kind === 'failed')
    return ending(attempt, attemptFailed(attempt, answer, asked), finished)
  return ending(attempt, conclusion(attempt, ready, answer, finished.parts), finished)
}

/**
 * A request, and whether it is in plain text because the provider does not take it otherwise;
 * `obstacle`: what it may not take of it.
 */
type Asked = {
  agent: Agent
  request: ProviderRequest
  obstacle: Obstacle | undefined
  isPlain: boolean
}

function inTakenForm({ gateway, task }: Attempt, { agent, request }: Ready): Asked {
  const obstacle = obstacleIn(agent, request)
  const isPlain =
    obstacle !== undefined && (task.plain || gateway.plainLessons.has(agent, obstacle))
  return { agent, request: isPlain ? inPlainText(request) : request, obstacle, isPlain }
}

type FinishedParts = Awaited<ReturnType<PartWriter['finishWithRest']>>

/**
 * What is not written yet can go together with the ending, where the bus writes both or neither:
 * one write less for each answer.
 */
async function finishParts({ context }: Attempt, parts: PartWriter): Promise<FinishedParts> {
  return context.writeWhole === undefined
    ? { parts: await parts.finish(), rest: [] }
    : parts.finishWithRest()
}

/** Keeps ATTEMPT-1: parts that are left stand before the ending, in one write that is whole. */
function ending(
  { context, id }: Attempt,
  message: AttemptFailed | AttemptFinished,
  { parts, rest }: FinishedParts = { parts: 0, rest: [] },
) {
  const { writeWhole } = context
  if (writeWhole === undefined || rest.length === 0)
    return { write: () => context.write('self', [message]) }
  const records = rest.map(
    (events, n) =>
      ({
        to: 'response',
        message: { type: 'part', ...id, i: parts - rest.length + n, events },
      }) as const,
  )
  return { write: () => writeWhole([...records, { to: 'self', message }]) }
}

/** How the attempt went. */
function conclusion(
  attempt: Attempt,
  ready: Ready,
  answer: Answer,
  parts: number,
): AttemptFailed | AttemptFinished {
  const { id, log } = attempt
  if (answer.stop === 'cut') return attemptFailed(attempt, cutOff)
  // A text that was cut there is still the best reply there is; calls would be cut too, and their
  // results would have nowhere to go.
  if (isContextEnd(answer.finish) && !answer.isReply)
    return attemptFailed(attempt, contextFull(`the provider says ${answer.finish}`))

  const { finish, stop: why } = answer
  const usage = boundedUsage(answer.usage)
  const declarations = ready.declarations.filter((declaration) => answer.mentions(declaration.name))
  log.debug({ parts, finish, usage }, 'the model has answered')
  const callsAsText = ready.agent.model.toolCalls === 'text'
  return {
    type: 'attempt-finished',
    ...id,
    parts,
    finish,
    stop: why,
    usage,
    declarations,
    policy: ready.policy,
    callsAsText,
  }
}

type Ready = {
  kind: 'ready'
  agent: Agent
  declarations: Declaration[]
  request: ProviderRequest
  policy: Policy
}

/**
 * All that has to be known before the provider may be called. Never rejects, so that nobody has to
 * look at it after a stop.
 */
async function prepare({ gateway, context, task, log }: Attempt): Promise<Ready | Failed> {
  const { request } = task
  const { conversation, turn, historyRound, settings, nudge, callsLeft } = request
  const agent = gateway.agents.get(request.agent)
  if (agent === undefined) {
    const reason = missingAgent(request.agent, gateway.agents)
    log.warn({ agent: request.agent }, `a turn cannot go on: ${reason}`)
    return notReady('agent.unknown', reason, false)
  }

  const declarations = offeredTools(gateway.agents, request, log)
  try {
    const entries = await context.history(
      { conversation, turn, round: historyRound },
      limits.historyWaitMs,
    )
    if (entries === undefined)
      return notReady(
        'history.missing',
        `history entry ${turn}/${historyRound} did not come within ${limits.historyWaitMs} ms`,
        true,
      )
    const policy = await policyInForce(context, { agent: request.agent, own: settings.policy, log })
    if (typeof policy === 'string') return notReady('policies.unreadable', policy, true)
    const history = entries.filter((entry) => entry.type === 'history-entry')
    const tooLarge = historyTooLarge(history)
    if (tooLarge !== undefined) return tooLarge
    const providerRequest = {
      nudge,
      tools: declarations,
      textOnly: callsLeft === 0,
      history,
      rebuilt: task.rebuilt,
    }
    return { kind: 'ready', agent, declarations, request: providerRequest, policy }
  } catch (error) {
    log.warn({ err: error }, 'the tables history and policies cannot be read')
    return notReady('policies.unreadable', 'the tables history and policies cannot be read', true)
  }
}

/**
 * Also of a turn that another process began, which had other agent files. The names of all could be
 * many, and belong to the operator's log.
 */
function missingAgent(name: string, agents: Agents): string {
  const those = agents.size === 1 ? `'${[...agents.keys()][0]}' only` : `${agents.size} others`
  return `the turn is of agent '${name}', and the process that is to ask its model has ${those}; start Weir with the agent file of '${name}', and ask again`
}

function notReady(code: Failed['code'], reason: string, retryable: boolean): Failed {
  return {
    kind: 'failed',
    code,
    class: retryable ? 'transient' : 'internal',
    reason,
    retryable,
    retryAfterMs: null,
  }
}

/**
 * The tools of the request that this gateway's own agent file declares in just this form; the
 * others are not offered (R6).
 */
function offeredTools(agents: Agents, request: ModelRequest, log: Logger): Declaration[] {
  return request.tools.flatMap((ref) => {
    const tool = findTool(agents, request.agent, ref)
    if (tool === undefined)
      log.warn(
        { tool: ref.name, hash: ref.hash },
        "not offered: the agent's file here has no such tool",
      )
    return tool === undefined ? [] : [tool.declaration]
  })
}

/**
 * Quiet, because time is the log's: its tick will end the round at this very time, whatever our
 * clock says.
 */
function isExpired({ context, task, log }: Attempt): boolean {
  const now = context.clock.now()
  if (now < task.request.expiresAt) return false
  log.warn({ expiresAt: task.request.expiresAt, now }, 'no attempt: the round has expired')
  return true
}

/** Whatever the provider counted: the sum of a turn must stay a number that a record can hold. */
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

const cutOff: Failed = {
  kind: 'failed',
  code: 'provider.stream',
  class: 'transient',
  reason: 'the stream ended before the provider said why the model stopped',
  retryable: true,
  retryAfterMs: null,
}

/** Why a request is sent once more, and why it is not. */
const refusals = {
  history: 'the history of this conversation is refused, and sent once more, rebuilt',
  historyAgain:
    'the history of this conversation is refused, also rebuilt; begin a new conversation',
  tools: 'the request is refused, and sent once more in plain text, without tools',
  toolsAgain: 'the request is refused, also in plain text and without tools',
}

/** `asked`: what the provider was asked with; undefined: it was not asked. */
function attemptFailed({ task, id, log }: Attempt, failed: Failed, asked?: Asked): AttemptFailed {
  const { code, retryable } = failed
  // Who asks to come back at once, or in the past, has not asked for a wait: three tries within a
  // moment would all meet the same.
  const retryAfterMs =
    failed.retryAfterMs ||
    Math.min(limits.retryBackoffMs * 2 ** task.failures, limits.retryBackoffMsMax)
  const isOfHistory = failed.historyRefused ?? false
  const isOfTools = failed.formRefused !== undefined && asked?.obstacle !== undefined
  const historyRefused = isOfHistory && !task.rebuilt
  const toolsRefused = isOfTools && !asked.isPlain
  const why = [
    ...(isOfHistory ? [historyRefused ? refusals.history : refusals.historyAgain] : []),
    ...(isOfTools ? [toolsRefused ? refusals.tools : refusals.toolsAgain] : []),
  ]
  const reason = shortReason([...why, failed.reason].join(': '))
  log.info(
    { code, class: failed.class, reason, retryable, retryAfterMs, historyRefused, toolsRefused },
    'the attempt failed',
  )
  return {
    type: 'attempt-failed',
    ...id,
    reason,
    class: failed.class,
    retryable,
    retryAfterMs,
    historyRefused,
    toolsRefused,
  }
}
