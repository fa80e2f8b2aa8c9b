// Weir in a program: the package `weir-agents`. It sends messages and yields the events of their
// turns. The stages run in this process, on one SQLite file or on Kafka, or in other processes.
// Owns: opening and closing, and the open turns of this process. Does not own: any decision about
// a turn. The stages decide, and a turn continues whenever they run again, in any process.
// Next to it: weir-options.ts has the options of `open`, open-place.ts opens the log and starts the
// stages, question.ts checks a question, turn.ts is its turn, conversation.ts reads.

import type { Logger } from 'pino'
import type {
  ApprovalDecision,
  Approvals,
  DecisionOutcome,
  WaitingApproval,
} from '../services/approval/performer/approvals.ts'
import { personHere } from '../services/approval/performer/person.ts'
import { providerNamed } from '../services/llm-gateway/performer/providers/providers.ts'
import type { RunningStages } from '../services/stages.ts'
import { secretsOf } from '../shared/agents/secrets.ts'
import { busKindOf } from '../shared/bus/kinds.ts'
import type { Bus } from '../shared/contract/bus.ts'
import {
  type ConversationId,
  type MessageId,
  parseConversationId,
  parseMessageId,
} from '../shared/contract/ids.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { createLog } from '../shared/lib/log/log.ts'
import type { Settings } from '../shared/settings/settings.ts'
import { type AgentCalls, type AskAgent, createAgentCalls } from './agents/agent-calls.ts'
import { type Agents, agentsOf } from './agents/agents-in-files.ts'
import type { Contexts } from './agents/contexts.ts'
import { type McpAgents, openMcpAgents, pinsFolderOf } from './agents/mcp-agents.ts'
import {
  type Conversation,
  type ConversationsOptions,
  type ConversationsPage,
  conversationIn,
  conversationsIn,
} from './conversation/conversation.ts'
import type { CallTypes } from './define/call-types.ts'
import { type Edge, openEdge } from './edge/edge.ts'
import { createFollowKey } from './edge/followed-key.ts'
import type { ForgetOptions, Forgotten } from './forget/forget.ts'
import { needOptions } from './given-options.ts'
import { unmatchedPatterns } from './guards/unmatched-patterns.ts'
import { type HttpHandler, handlerOf } from './http/http-handler.ts'
import { checkHttpOptions, type HttpOptions } from './http/http-options.ts'
import { refuseUnknownKeys } from './known-keys.ts'
import { closedOnFailure } from './place/closed-on-failure.ts'
import { openFolder, openShared, openWatched } from './place/open-place.ts'
import type { SharedFolder } from './place/shared-folder.ts'
import { type LateSearch, lateSearch } from './search/late-search.ts'
import { type CheckedQuestion, checkedQuestion, parseText, type Question } from './turn/question.ts'
import { askTurn, type Turn } from './turn/turn.ts'
import { checkOptions, settingsOf, stagesOf, type WeirOptions } from './weir-options.ts'

export type { DecisionOutcome, WaitingApproval } from '../services/approval/performer/approvals.ts'
export type { ApprovalSettings } from '../services/approval/performer/registration.ts'
export type { ApprovalRule } from '../services/approval/rules.ts'
export type { CommandTool, HttpTool, ModuleTool, Tool } from '../shared/agents/agents.ts'
export { defaultSettings, policyOf } from '../shared/agents/policy/policy.ts'
export type { SandboxFields, SandboxSetting } from '../shared/agents/sandbox.ts'
export type { CallArguments } from '../shared/contract/call/call-arguments.ts'
export type { InputQuestion } from '../shared/contract/call/input-question.ts'
export type {
  AnyGuard,
  ExternalGuard,
  Guard,
  GuardedCall,
  GuardedRound,
  Judgement,
  Verdict,
} from '../shared/contract/guard/guard.ts'
export type { ConversationId, MessageId } from '../shared/contract/ids.ts'
export type {
  AgentSettings,
  Declaration,
  FailureClass,
  ResultStatus,
  ToolHints,
  TurnFinished,
  TurnOutcome,
} from '../shared/contract/messages.ts'
export type { ErrorCode } from '../shared/lib/errors.ts'
export type { CallValue, ResultValue } from '../shared/view/messages/call-result.ts'
export type { CallCard, ConversationMessage } from '../shared/view/messages/messages.ts'
export { type Agent, type Agents, loadAgents, type Model } from './agents/agents-in-files.ts'
export type { ExportOptions } from './bundle/exported-conversation.ts'
export type { BundleContent } from './bundle/written-bundle.ts'
export type { OfferedCall, SentResult } from './conversation/client-calls.ts'
export type {
  Conversation,
  ConversationsOptions,
  ConversationsPage,
  ConversationsWhere,
} from './conversation/conversation.ts'
export type { EventsOptions } from './conversation/conversation-events.ts'
export type { ConversationTurn, TurnsOptions } from './conversation/conversation-turns.ts'
export type { ForkOptions } from './conversation/fork.ts'
export type { CallTypes } from './define/call-types.ts'
export { type DefinedAgent, defineAgent } from './define/define-agent.ts'
export { defineTool, type ToolCall } from './define/define-tool.ts'
export {
  type AnthropicOptions,
  anthropic,
  type DefinedModel,
  type GeminiOptions,
  gemini,
  type ModelOptions,
  type OpenaiChatOptions,
  type OpenaiOptions,
  openai,
  openaiChat,
} from './define/models.ts'
export type { JsonSchema, StandardSchema } from './define/standard-schema.ts'
export type { DefinedTool, FlowSource } from './define/tool-fields.ts'
export type { ForgetOptions, ForgetSelection, Forgotten } from './forget/forget.ts'
export type { ConversationSummary } from './history/summary.ts'
export type { HttpHandler } from './http/http-handler.ts'
export type {
  HttpOptions,
  HttpPrincipal,
  HttpRequestHead,
  HttpRole,
} from './http/http-options.ts'
export type { EmbeddedBusChoice, KafkaBusChoice } from './place/bus-choice.ts'
export type { Question } from './turn/question.ts'
export type { FileInput, ImageInput } from './turn/question-contents.ts'
export type { Turn } from './turn/turn.ts'
export type {
  CallPlace,
  ReasoningDelta,
  TextDelta,
  TextReset,
  TurnEvent,
  TurnWaiting,
  WholeCall,
} from './turn/turn-event.ts'
export { turnEventVersion } from './turn/turn-event.ts'
export type { WeirOptions } from './weir-options.ts'
export { WeirError }

/** The author of a decision, and the call that it is for. See Weir.allow. */
export type DecisionOptions = Partial<
  Pick<ApprovalDecision, 'by' | 'identity' | 'hash' | 'tenant' | 'of'>
>

export type Weir = AsyncDisposable & {
  /** The agents that you can ask, by name. */
  readonly agents: Agents
  /**
   * Rejects when the stages of this process cannot go on: a full disk, a damaged file, a bug. Every
   * open turn fails with the same error. Never resolves. If the stages run elsewhere, it never
   * rejects either.
   */
  readonly failed: Promise<never>
  /**
   * Sends a message and returns its turn at once. Throws `agent.unknown`, `message.invalid` (with
   * the accepted values), `bus.closed`, or the error of `failed`.
   */
  ask<Context = unknown, Output = string, Call extends CallTypes = CallTypes>(
    question: Question<Context, Output, Call>,
  ): Turn<Output, Call>
  /**
   * Requests the end of a message's turn, even if another process sent the message. Resolves when
   * the request is written. See Turn.cancel.
   */
  cancel(message: { conversation: ConversationId; messageId: MessageId }): Promise<void>
  /**
   * A page of the conversations, the latest activity first. `where`: those that match. `sort`: in
   * another order. Throws `usage` with the accepted conditions.
   */
  conversations(options?: ConversationsOptions): Promise<ConversationsPage>
  /** Reads a conversation of the log: its messages and events. Throws `message.invalid`. */
  conversation(id: ConversationId): Conversation
  /**
   * Deletes a conversation, or all of a tenant, for good: records, history, copies. `by`: the name of the
   * person; default: the user of this process. On Kafka `until` is the time when the last record goes.
   * Throws `conversation.unknown`, and `conversation.open` while a turn is open.
   */
  forget(options: ForgetOptions): Promise<Forgotten>
  /**
   * The calls that wait for a person, in all conversations of this log, oldest first. The events of
   * a turn name the turn's calls: `approval-pending`.
   */
  approvals(): Promise<WaitingApproval[]>
  /**
   * Allows the waiting call with this id and exactly its arguments. `by`: the name of the person.
   * Default: the user of this process. `identity`: `authenticated` if your program checked a proof of
   * the name. Default: `claimed`. `of`: calls of other turns are unknown. `hash`: of the arguments that the person saw.
   * Default: of the waiting ones. `tenant`: calls of others are unknown. The outcome reports whether
   * the decision counts: a second or a late one changes nothing. `values`: the answer to a question
   * of a running tool, as JSON text. Throws `approval.unknown`, `approval.ambiguous`, and
   * `message.invalid` for values that do not fit.
   */
  allow(id: string, decision?: DecisionOptions & { values?: string }): Promise<DecisionOutcome>
  /** Denies the call. The model gets `reason`. Otherwise as `allow`. */
  deny(id: string, decision?: DecisionOptions & { reason?: string }): Promise<DecisionOutcome>
  /**
   * Returns a handler for the HTTP server of your program: `Request` to `Response`. It has every
   * protocol of `weir serve`, with the console, for the agents of this Weir. Each request needs an
   * author: `principal`, a key of `apiKeys`, a token of `oidc`, or otherwise the key in `weir.key` of the
   * data folder. Throws `settings.invalid`.
   */
  http(options?: HttpOptions): HttpHandler
  /**
   * Stops: nothing new starts, claimed calls that have not started are released, and running tools
   * may end within 10 seconds. With stages here and a Kafka that does not answer, it drops
   * unwritten records and takes up to half a minute. Open turns fail here with `bus.closed`. They
   * continue when the data folder is opened again, or at once if the stages run elsewhere; ask with
   * the same message id to get their end.
   */
  close(): Promise<void>
}

export const Weir = { open }

/**
 * Starts Weir in this process. Throws `agent.invalid` with every mistake of the agent files, and
 * `settings.invalid` for options or the client's properties. `bus.locked`: another process has the
 * data folder, and `stages` is `here`, or that process accepts no others. `bus.unreachable`:
 * `stages` is `elsewhere`, and no process runs them. `bus.topic-missing`: on Kafka, before `weir
 * topics create`. Other errors come from the bus.
 */
async function open(options: WeirOptions): Promise<Weir> {
  refuseInTool()
  checkOptions(options)
  const settings = settingsOf(options)
  const kind = busKindOf(settings)
  const stages = stagesOf(options, kind)
  const agentCalls = createAgentCalls()
  const written = agentsOf(options.agents, stages, agentCalls)
  if (stages !== 'elsewhere')
    for (const { model } of written.values()) providerNamed(model.provider)
  const log = options.log ?? createLog({ level: 'warn', secrets: secretsOf(written) })
  const mcp = await openMcpAgents(written, log, pinsFolderOf(settings))
  const parts = { options, settings, agents: mcp.agents, log }
  for (const text of unmatchedPatterns(options, mcp.agents)) log.warn(text)
  const place = await closedOnFailure(mcp, () => {
    if (!kind.isLocal) return openShared({ ...parts, stages })
    const watches = mcp.agents.size === 0 && stages === 'elsewhere'
    return watches ? openWatched(parts) : openFolder({ ...parts, kind, stages })
  })
  const { bus, partitions } = place
  const { topicPrefix } = settings
  // Loaded for the first decision: it imports the engines of the rules.
  const approvals = async () =>
    (await import('../services/approval/performer/approvals.ts')).openApprovals({
      bus,
      append: (records) => bus.append(records),
      topicPrefix,
      partitions,
    })
  const edge = openEdge({ bus, topicPrefix, partitions })
  const readable = { bus, topicPrefix, partitions, hasIndex: kind.isLocal }
  const search = lateSearch(readable, settings)
  return weirOf({
    ...place,
    settings,
    givenLog: options.log,
    mcp,
    agentCalls,
    approvals,
    edge,
    search,
    log: {
      ...readable,
      source: settings.bus,
      edge,
      followKey: createFollowKey(bus),
      search: search.open,
    },
  })
}

/** An isolated tool whose file opens Weir would run the program again in each of its processes. */
function refuseInTool(): void {
  if (Reflect.get(globalThis, Symbol.for('weir-agents.tool-process')) !== true) return
  throw new WeirError(
    'settings.invalid',
    'Weir cannot be opened in the process of a tool: move the isolated tool to a file that opens no Weir',
  )
}

type Parts = {
  search: LateSearch
  mcp: McpAgents<Agents>
  agentCalls: AgentCalls
  contexts: Contexts
  settings: Settings
  /** Undefined: the program gave none. */
  givenLog: Logger | undefined
  bus: Bus
  running: Pick<RunningStages, 'failed' | 'close'>
  edge: Edge
  log: Parameters<typeof conversationIn>[0]
  approvals: () => Promise<Approvals>
  folder?: SharedFolder
}

function weirOf(parts: Parts): Weir {
  const { mcp, agentCalls, contexts, bus, running, edge, log, search, approvals, folder } = parts
  const { settings } = parts
  const { agents } = mcp
  const turns = new Set<ReturnType<typeof askTurn>>()
  const handlers: ReturnType<typeof handlerOf>[] = []
  const sending: Edge = {
    ...edge,
    send: (question) =>
      folder === undefined
        ? edge.send(question)
        : folder.send(question.agent, question, () => edge.send(question)),
  }
  let failure: { error: unknown } | undefined
  let closing: Promise<void> | undefined

  running.failed.catch((error: unknown) => {
    failure = { error }
    failTurns(error)
  })

  function failTurns(error: unknown): void {
    for (const turn of [...turns]) turn.fail(error)
  }

  function assertOpen(): void {
    if (failure !== undefined) throw failure.error
    if (closing !== undefined) throw closed()
  }

  function closeOnce(): Promise<void> {
    closing ??= close()
    return closing
  }

  function askNow({ context, ...options }: CheckedQuestion): Turn {
    const drop = context === undefined ? () => {} : contexts.keep(options.question, context)
    mcp.refresh(options.question.agent.name)
    const turn = askTurn({
      edge: sending,
      clock: bus.clock,
      ...options,
      onOver() {
        drop()
        if (context !== undefined) folder?.over(options.question)
        turns.delete(turn)
      },
    })
    turns.add(turn)
    return turn
  }

  const ask: AskAgent = (agent, { text, context, signal, ...message }) => {
    assertOpen()
    const question = { agent, text: parseText(text), ...message }
    return askNow({ question, isNew: false, context, signal })
  }
  agentCalls.begin(agents, log.partitions, { ask, cancel: edge.cancel })

  async function close(): Promise<void> {
    try {
      for (const handler of handlers) await handler.close()
    } finally {
      await closePlace()
    }
  }

  async function closePlace(): Promise<void> {
    try {
      await running.close()
    } finally {
      failTurns(closed())
      edge.close()
      await search.close()
      await mcp.close()
      await bus.close()
    }
  }

  const weir: Weir = {
    agents,
    failed: running.failed,

    ask<Context, Output, Call extends CallTypes>(given: Question<Context, Output, Call>) {
      assertOpen()
      // outputOf checks the output, and the schemas of the tools the calls.
      return askNow(checkedQuestion(given, agents)) as unknown as Turn<Output, Call>
    },

    async cancel(message) {
      assertOpen()
      const example = "{ conversation: 'c1', messageId: 'm1' }"
      needOptions(message, { code: 'message.invalid', subject: 'cancel', example })
      await edge.cancel({
        conversation: parseConversationId(message.conversation),
        messageId: parseMessageId(message.messageId),
      })
    },

    async conversations(options = {}) {
      assertOpen()
      return conversationsIn(log, options)
    },

    conversation(id) {
      assertOpen()
      return conversationIn(log, id)
    },

    async forget(options) {
      assertOpen()
      // Loaded when it is needed: it folds with the stages.
      return (await import('./forget/weir-forget.ts')).forgetIn(log, settings, options)
    },

    async approvals() {
      assertOpen()
      return (await approvals()).waiting()
    },

    async allow(id, decision = {}) {
      assertOpen()
      return decided(approvals, 'allow', { ...decision, id })
    },

    async deny(id, decision = {}) {
      assertOpen()
      return decided(approvals, 'deny', { ...decision, id })
    },

    // Loaded late: a program without a handler pays nothing for the server.
    http(options = {}) {
      assertOpen()
      checkHttpOptions(options)
      const { settings, givenLog } = parts
      const opening = import('../apps/http/serve/program-handler.ts').then(
        ({ openProgramHandler }) => openProgramHandler(options, { weir, settings, givenLog }),
      )
      const handler = handlerOf(opening)
      handlers.push(handler)
      return handler
    },

    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  }
  return weir
}

/** A misspelt tenant must not let a user decide for all tenants. */
async function decided(
  approvals: Parts['approvals'],
  answer: ApprovalDecision['answer'],
  { id, by = personHere(), ...decision }: DecisionOptions & { id: string },
): Promise<DecisionOutcome> {
  const known = ['identity', 'hash', 'tenant', 'of', answer === 'allow' ? 'values' : 'reason', 'by']
  refuseUnknownKeys(decision, known, { code: 'usage', subject: answer })
  return (await approvals()).decide({ ...decision, id: String(id), answer, by })
}

function closed(): WeirError {
  return new WeirError(
    'bus.closed',
    'this Weir is closed: open it again to continue its open turns',
  )
}
