// Weir in a program: the package `weir-agents`. It sends messages and yields the events of their
// turns. The stages run in this process, on one SQLite file or on Kafka, or in other processes.
// Owns: opening and closing, and the open turns of this process. Does not own: any decision about
// a turn. The stages decide, and a turn continues whenever they run again, in any process.

import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { Approvals, DecisionOutcome, WaitingApproval } from '../services/approval/approvals.ts'
import { personHere } from '../services/approval/person.ts'
import type { ApprovalSettings } from '../services/approval/registration.ts'
import { type ProviderName, providerNamed } from '../services/llm-gateway/providers/providers.ts'
import type { RunningStages } from '../services/stages.ts'
import type {
  Agent as AgentOf,
  Agents as AgentsOf,
  Model as ModelOf,
} from '../shared/agents/agents.ts'
import { secretsOf } from '../shared/agents/secrets.ts'
import type { BusKind, LocalBus } from '../shared/bus/kind.ts'
import { busKindOf } from '../shared/bus/kinds.ts'
import { compiledSchema } from '../shared/contract/arguments/compiled-schema.ts'
import type { Bus } from '../shared/contract/bus.ts'
import { contentRef, type WholeContent } from '../shared/contract/contents.ts'
import type { Guard } from '../shared/contract/guard.ts'
import {
  type ConversationId,
  halfPair,
  isConversationOfCall,
  type MessageId,
  parseConversationId,
  parseMessageId,
} from '../shared/contract/ids.ts'
import { limits } from '../shared/contract/limits.ts'
import { partitionOf } from '../shared/contract/partition.ts'
import { retentionMsOf } from '../shared/contract/retention.ts'
import { conversationOfTenant, isTenant, tenantRule } from '../shared/contract/tenant.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { createLog } from '../shared/lib/log.ts'
import { alternatives, shown } from '../shared/settings/mistake.ts'
import { busNames, readSettings, type Settings } from '../shared/settings/settings.ts'
import { type AgentCalls, createAgentCalls } from './agent-calls.ts'
import { agentsInFiles, agentsOfProgram } from './agents-in-files.ts'
import { type BusChoice, clockOfChoice, flagsOfChoice } from './bus-choice.ts'
import { type Contexts, createContexts } from './contexts.ts'
import {
  type Conversation,
  type ConversationsOptions,
  type ConversationsPage,
  conversationIn,
  conversationsIn,
} from './conversation.ts'
import type { DefinedAgent } from './define/define-agent.ts'
import { type Edge, openEdge } from './edge.ts'
import { checkGuards, needOptions } from './given-options.ts'
import { refuseUnknownKeys } from './known-keys.ts'
import { type McpAgents, openMcpAgents } from './mcp-agents.ts'
import { keepPartitionCount, openBus, openBusForStages, partitionCount } from './open-bus.ts'
import { openingOf } from './opening.ts'
import { contentsOf, type FileInput, type ImageInput } from './question-contents.ts'
import { runBeside, runHere } from './run-here.ts'
import { createSharedFolder, type SharedFolder } from './shared-folder.ts'
import { type StagesChoice, stagesChoices } from './stages-choice.ts'
import { type AskOptions, askTurn, type Turn } from './turn.ts'
import { type OutputSchema, outputText } from './turn-output.ts'

export type { DecisionOutcome, WaitingApproval } from '../services/approval/approvals.ts'
export type { ApprovalSettings } from '../services/approval/registration.ts'
export type { ApprovalRule } from '../services/approval/rules.ts'
export type { CommandTool, HttpTool, ModuleTool, Tool } from '../shared/agents/agents.ts'
export { defaultSettings, policyOf } from '../shared/agents/agents.ts'
export type { SandboxFields, SandboxSetting } from '../shared/agents/sandbox.ts'
export type {
  Guard,
  GuardedCall,
  GuardedRound,
  Judgement,
  Verdict,
} from '../shared/contract/guard.ts'
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
export type { ExportOptions } from './bundle/exported-conversation.ts'
export type { BundleContent } from './bundle/written-bundle.ts'
export type { EmbeddedBusChoice, KafkaBusChoice } from './bus-choice.ts'
export type {
  Conversation,
  ConversationsOptions,
  ConversationsPage,
  ConversationsWhere,
} from './conversation.ts'
export type { EventsOptions } from './conversation-events.ts'
export type { ConversationTurn, TurnsOptions } from './conversation-turns.ts'
export { type AgentToolOptions, asTool } from './define/as-tool.ts'
export { type DefinedAgent, defineAgent } from './define/define-agent.ts'
export { type DefinedTool, defineTool, type ToolCall } from './define/define-tool.ts'
export {
  type AnthropicOptions,
  anthropic,
  type DefinedModel,
  type ModelOptions,
  type OpenaiChatOptions,
  type OpenaiOptions,
  openai,
  openaiChat,
} from './define/models.ts'
export type { JsonSchema, StandardSchema } from './define/standard-schema.ts'
export type { CallCard, ConversationMessage } from './history/messages.ts'
export type { ConversationSummary } from './history/summary.ts'
export type { FileInput, ImageInput } from './question-contents.ts'
export type { Turn } from './turn.ts'
export type {
  CallInput,
  CallPlace,
  ReasoningDelta,
  TextDelta,
  TextReset,
  TurnEvent,
  TurnWaiting,
  WholeCall,
} from './turn-event.ts'
export { turnEventVersion } from './turn-event.ts'
export { WeirError }

/** `provider`: the name of a provider that this version knows. */
export type Model = ModelOf<ProviderName>
export type Agent = AgentOf<ProviderName>
/** By name. */
export type Agents = AgentsOf<ProviderName>

export type WeirOptions = {
  /**
   * Agents of `defineAgent`, or an agent file, a folder of them, or the agents of `loadAgents`.
   * Stages that run elsewhere have their own agents. Then only the fields that go with a message
   * are read here: no key and no program is needed.
   */
  agents: readonly DefinedAgent<never>[] | Agents | string
  /** The place of the log. Default: a file in `dataFolder`. */
  bus?: BusChoice
  /**
   * The process that runs the stages. `auto`: on the embedded bus, this process if no other one runs
   * them in the data folder, and also once that one ends. On Kafka, other processes. `here`: this
   * process. `elsewhere`: other processes, such as `weir up`. Then the end of this process stops no
   * turn. Default `auto`.
   */
  stages?: StagesChoice
  /**
   * The folder of the log, `weir.db`. Several processes can share it. On Kafka: the folder of local
   * copies of tables. Default `.weir` in the working folder.
   */
  dataFolder?: string
  /**
   * When a write waits for the disk. All values survive a killed process. Only `full` survives a
   * power loss at any moment. Default `normal`.
   */
  synchronous?: Settings['synchronous']
  /**
   * Partitions of every topic. Fixed once the topics exist. Default: 4; on Kafka, the topics'
   * number.
   */
  partitions?: number
  /**
   * The start of all topic names. Two Weirs with different prefixes can share a cluster, or a data
   * folder one after the other. Default `weir.`
   */
  topicPrefix?: string
  /**
   * Days to keep records, and the history of an idle conversation. At least two more than
   * `toleratedDowntime`. Default 7.
   */
  retention?: number
  /**
   * Bytes of the log in the data folder at which `ask` fails with `bus.full`. Running turns end.
   * Default 0: no limit.
   */
  dataFolderBytesMax?: number
  /** Days that all of Weir may be down and still continue every open turn. Default 3. */
  toleratedDowntime?: number
  /**
   * Guards that run in this process with the stages. `mode`: for all of them; default: as
   * registered, and `shadow` for a new guard. A registered guard that is missing here stays in
   * force until it is removed: it does not answer, so its on-timeout decides.
   */
  guards?: { guards: readonly Guard[]; mode?: 'shadow' | 'enforce' }
  /**
   * The calls that wait for a person, if the stages run here; as `weir approvals rules` sets them.
   * Default: the rules that were set before.
   */
  approvals?: ApprovalSettings
  /**
   * Whether stages may run on a log that `weir import` made. Its writer chose the policies, the rules
   * and the history. Default: false, and opening it throws `bus.imported`.
   */
  runImported?: boolean
  /** A pino logger. Default: lines of JSON at `warn` and above on standard error. */
  log?: Logger
}

/** A user's message. Messages of one conversation are answered one by one, in their order. */
export type Question<Context = unknown, Output = unknown> = QuestionFields & {
  /** The agent, or its name. */
  agent: string | DefinedAgent<Context>
  /**
   * The schema of the reply: a Standard Schema with its JSON Schema converter, or a JSON Schema. The
   * model gets it with the instructions. A reply that does not fit is requested again, at most
   * twice. `turn.output` is the value. Default: the reply is text.
   */
  output?: OutputSchema<Output>
} & ContextField<Context>

/**
 * `context`: a value for the agent's tools, such as the user's id or a connection. It stays in the
 * memory of this process: no record holds it, and a turn that goes on after a restart has none.
 * `record: true` writes it into the log as JSON, so such a turn has it.
 */
type ContextField<Context> = undefined extends Context
  ? { context?: Context; record?: boolean }
  : { context: Context; record?: boolean }

type QuestionFields = {
  /** A text behind the agent's instructions, for this question only. At most 64 KiB. */
  system?: string
  /** 1 byte to 1 MiB, not blank. */
  text: string
  /**
   * Images for the model: PNG, JPEG, GIF or WebP. With `files` at most 16, of 8 MiB each and 10 MiB
   * together. The log keeps each once, by its hash, as long as the history.
   */
  images?: readonly ImageInput[]
  /** Files for the model: PDF, or text in UTF-8. */
  files?: readonly FileInput[]
  /** The conversation to continue or begin. At most 256 bytes. Default: a new one. */
  conversation?: ConversationId
  /**
   * The tenant of the conversation, whose budgets count: 1 to 64 of a-z, 0-9, `.`, `_` and `-`. The
   * id of the conversation then begins with it and a colon. Default: the id decides, and without
   * such a beginning the tenant is `default`.
   */
  tenant?: string
  /**
   * Your id of the message. The same id in the same conversation is the same message, so a program
   * that was killed can ask again and gets the answer once. At most 256 bytes. Default: a new id.
   * On Kafka, a process that gives ids keeps a copy of the history of their partitions in the data
   * folder.
   */
  messageId?: MessageId
  /** Cancels the turn when it aborts. */
  signal?: AbortSignal
}

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
  ask<Context = unknown, Output = string>(question: Question<Context, Output>): Turn<Output>
  /**
   * Requests the end of a message's turn, even if another process sent the message. Resolves when
   * the request is written. See Turn.cancel.
   */
  cancel(message: { conversation: ConversationId; messageId: MessageId }): Promise<void>
  /**
   * A page of the conversations, the latest activity first; `where`: those that match. Throws
   * `usage` with the accepted conditions.
   */
  conversations(options?: ConversationsOptions): Promise<ConversationsPage>
  /** Reads a conversation of the log: its messages and events. Throws `message.invalid`. */
  conversation(id: ConversationId): Conversation
  /**
   * The calls that wait for a person, in all conversations of this log, oldest first. The events of
   * a turn name the turn's calls: `approval-pending`.
   */
  approvals(): Promise<WaitingApproval[]>
  /**
   * Approves the waiting call with this id and exactly its arguments. `by`: the name of the person,
   * unchecked. Default: the user of this process. `hash`: of the arguments that the person saw.
   * Default: of the waiting ones. The outcome reports whether the decision counts: a second or a
   * late one changes nothing. Throws `approval.unknown`, `approval.ambiguous`.
   */
  approve(id: string, decision?: { by?: string; hash?: string }): Promise<DecisionOutcome>
  /** Rejects the call. The model gets `reason`. Otherwise as `approve`. */
  reject(
    id: string,
    decision?: { by?: string; hash?: string; reason?: string },
  ): Promise<DecisionOutcome>
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
  const asked = { code: 'settings.invalid', subject: 'Weir.open' } as const
  needOptions(options, { ...asked, example: '{ agents: [yours] }' })
  refuseUnknownKeys(options, optionNames, asked)
  checkGuards(options.guards)
  const settings = settingsOf(options)
  const kind = busKindOf(settings)
  const stages = stagesOf(options, kind)
  const agentCalls = createAgentCalls()
  const written = agentsOf(options.agents, stages, agentCalls)
  if (stages !== 'elsewhere')
    for (const { model } of written.values()) providerNamed(model.provider)
  const log = options.log ?? createLog({ level: 'warn', secrets: secretsOf(written) })
  const mcp = await openMcpAgents(written, log)
  const parts = { options, settings, agents: mcp.agents, log }
  const opening = kind.isLocal
    ? openFolder({ ...parts, kind, stages })
    : openShared({ ...parts, stages })
  const place = await opening.catch(async (error: unknown) => {
    await mcp.close()
    throw error
  })
  const { bus, partitions } = place
  const { topicPrefix } = settings
  // Loaded for the first decision: it imports the engines of the rules.
  const approvals = async () =>
    (await import('../services/approval/approvals.ts')).openApprovals({
      bus,
      append: (records) => bus.append(records),
      topicPrefix,
      partitions,
    })
  return weirOf({
    ...{ ...place, mcp, agentCalls, approvals },
    log: { bus, topicPrefix, partitions, hasIndex: kind.isLocal, source: settings.bus },
    edge: openEdge({ bus, topicPrefix, partitions }),
  })
}

type OpenParts = { options: WeirOptions; settings: Settings; agents: Agents; log: Logger }

/** The log as this process uses it. `folder`: it shares the log's folder with others. */
type Place = {
  bus: Bus
  partitions: number
  contexts: Contexts
  running: Pick<RunningStages, 'failed' | 'close'>
  folder?: SharedFolder
}

async function openFolder({
  options,
  settings,
  agents,
  log,
  kind,
  stages,
}: OpenParts & { kind: LocalBus; stages: StagesChoice }): Promise<Place> {
  const { topicPrefix, partitions, dataFolder } = settings
  const retentionMs = retentionMsOf(settings.retention)
  const parts = { agents, topicPrefix, partitions, retentionMs, log, dataFolder }
  const folder = createSharedFolder({
    ...{ kind, settings, stages, agents, log, runImported: options.runImported },
    clock: clockOfChoice(options.bus),
    guards: options.guards?.guards.map(({ name }) => name) ?? [],
    runStages: (bus) => runHere({ ...parts, bus, contextOf: contexts.of }, options),
    runBeside: (bus) => runBeside({ ...parts, bus }, options),
  })
  const { bus } = folder
  const contexts = createContexts(
    ({ conversation, turn }) =>
      openingOf({ bus, topicPrefix, partition: partitionOf(conversation, partitions) }, turn),
    (time) => folder.contextsArrive(time),
  )
  try {
    await folder.join(contexts)
  } catch (error) {
    await bus.close().catch(() => {}) // the first error explains more
    throw error
  }
  return {
    ...{ bus, partitions, contexts, folder },
    running: { failed: folder.failed, close: folder.stop },
  }
}

async function openShared({
  options,
  settings,
  agents,
  log,
  stages,
}: OpenParts & { stages: StagesChoice }): Promise<Place> {
  const { topicPrefix } = settings
  const retentionMs = retentionMsOf(settings.retention)
  const isHere = stages === 'here'
  const bus = isHere
    ? await openBusForStages(settings, log, { runImported: options.runImported })
    : await openBus(settings, log, { connectMs: askConnectMs })
  try {
    const partitions = await partitionsOf(bus, isHere, options, settings)
    const contexts = createContexts(({ conversation, turn }) =>
      openingOf({ bus, topicPrefix, partition: partitionOf(conversation, partitions) }, turn),
    )
    const parts = {
      bus,
      agents,
      topicPrefix,
      partitions,
      retentionMs,
      log,
      dataFolder: settings.dataFolder,
    }
    const running = isHere
      ? await runHere({ ...parts, contextOf: contexts.of }, options)
      : { failed: new Promise<never>(() => {}), close: async () => {} }
    if (isHere) await keepPartitionCount({ bus, topicPrefix, partitions, log })
    return { bus, partitions, contexts, running }
  } catch (error) {
    await bus.close()
    throw error
  }
}

/** Short, because a person may wait. */
const askConnectMs = 15_000

/**
 * With a wrong number, a message would go to a partition that is not its conversation's. Stages
 * that run here create missing topics, so the number of a new log is the option's.
 */
async function partitionsOf(
  bus: Bus,
  isHere: boolean,
  { partitions }: WeirOptions,
  settings: Settings,
): Promise<number> {
  const found = await partitionCount(bus, settings.topicPrefix).catch((error: unknown) => {
    const isNew = error instanceof WeirError && error.code === 'bus.topic-missing'
    if (isNew && isHere && partitions !== undefined) return partitions
    throw error
  })
  if (partitions === undefined || partitions === found) return found
  throw new WeirError(
    'bus.topic-differs',
    `the topics have ${found} partitions, and the option partitions is ${partitions}: leave it out`,
  )
}

/**
 * The agents of a file or a folder. `environment`: the values of `${NAME}` in them. Throws
 * `agent.invalid` with every mistake.
 */
export function loadAgents(path: string, environment: NodeJS.ProcessEnv = process.env): Agents {
  return agentsInFiles(path, environment)
}

function agentsOf(agents: WeirOptions['agents'], stages: StagesChoice, calls: AgentCalls): Agents {
  const needs = stages === 'elsewhere' ? [] : undefined
  if (typeof agents === 'string') return agentsInFiles(agents, process.env, needs)
  return agents instanceof Map
    ? agents
    : agentsOfProgram([...agents.values()], process.env, needs, calls)
}

/** An isolated tool whose file opens Weir would run the program again in each of its processes. */
function refuseInTool(): void {
  if (Reflect.get(globalThis, Symbol.for('weir-agents.tool-process')) !== true) return
  throw new WeirError(
    'settings.invalid',
    'Weir cannot be opened in the process of a tool: move the isolated tool to a file that opens no Weir',
  )
}

const optionNames = Object.keys({
  ...{ agents: 1, bus: 1, stages: 1, dataFolder: 1, synchronous: 1, partitions: 1 },
  ...{ topicPrefix: 1, retention: 1, dataFolderBytesMax: 1, toleratedDowntime: 1, guards: 1 },
  ...{ approvals: 1, runImported: 1, log: 1 },
} satisfies Record<keyof WeirOptions, 1>)

const questionNames = Object.keys({
  ...{
    agent: 1,
    text: 1,
    images: 1,
    files: 1,
    system: 1,
    output: 1,
    context: 1,
    record: 1,
    conversation: 1,
    tenant: 1,
    messageId: 1,
    signal: 1,
  },
} satisfies Record<keyof Question, 1>)

type AskNow = Pick<AskOptions, 'question' | 'isNew' | 'signal' | 'output'> & { context: unknown }

type Parts = {
  mcp: McpAgents<Agents>
  agentCalls: AgentCalls
  contexts: Contexts
  bus: Bus
  running: Pick<RunningStages, 'failed' | 'close'>
  edge: Edge
  log: Parameters<typeof conversationIn>[0]
  approvals: () => Promise<Approvals>
  folder?: SharedFolder
}

function weirOf(parts: Parts): Weir {
  const { mcp, agentCalls, contexts, bus, running, edge, log, approvals, folder } = parts
  const { agents } = mcp
  const turns = new Set<ReturnType<typeof askTurn>>()
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

  function askNow({ context, ...options }: AskNow): Turn {
    const drop = context === undefined ? () => {} : contexts.keep(options.question, context)
    mcp.refresh(options.question.agent.name)
    const turn = askTurn({
      ...{ edge: sending, clock: bus.clock, ...options },
      onOver() {
        drop()
        if (context !== undefined) folder?.over(options.question)
        turns.delete(turn)
      },
    })
    turns.add(turn)
    return turn
  }

  agentCalls.begin(agents, (agent, { text, context, signal, ...message }) => {
    assertOpen()
    const question = { agent, text: parseText(text), ...message }
    return askNow({ question, isNew: false, context, signal })
  })

  async function close(): Promise<void> {
    try {
      await running.close()
    } finally {
      failTurns(closed())
      edge.close()
      await mcp.close()
      await bus.close()
    }
  }

  return {
    agents,
    failed: running.failed,

    ask<Context, Output>(given: Question<Context, Output>) {
      assertOpen()
      const asked = { code: 'message.invalid', subject: 'ask' } as const
      needOptions(given, { ...asked, example: "{ agent: 'ops', text: 'Hello' }" })
      refuseUnknownKeys(given, questionNames, asked)
      const { text, system, output, context, record = false, signal } = given
      const contents = contentsOf(given.images, given.files)
      const { messageId } = given
      const conversation = inTenant(given.tenant, given.conversation ?? newId())
      const name = typeof given.agent === 'string' ? given.agent : given.agent.name
      const agent = agents.get(name)
      if (agent === undefined) throw unknownAgent(name, agents)
      if (isConversationOfCall(conversation)) throw ofCall(conversation)
      const question = {
        agent: forQuestion(agent, {
          ...{ system, output, contents },
          context: record ? contextText(context) : null,
        }),
        contents,
        conversation: parseConversationId(conversation),
        messageId: parseMessageId(messageId ?? newId()),
        text: parseText(text),
      }
      return askNow({
        ...{ question, isNew: messageId === undefined, context, signal, output },
      }) as Turn<Output> // outputOf has checked it
    },

    async cancel(message) {
      assertOpen()
      await edge.cancel(message)
    },

    async conversations(options = {}) {
      assertOpen()
      return conversationsIn(log, options)
    },

    conversation(id) {
      assertOpen()
      return conversationIn(log, id)
    },

    async approvals() {
      assertOpen()
      return (await approvals()).waiting()
    },

    async approve(id, { by = personHere(), hash } = {}) {
      assertOpen()
      return (await approvals()).decide({ id, answer: 'approve', by, hash })
    },

    async reject(id, { by = personHere(), hash, reason } = {}) {
      assertOpen()
      return (await approvals()).decide({ id, answer: 'reject', by, hash, reason })
    },

    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  }
}

/** The agent with the settings of one question. */
function forQuestion(
  agent: Agent,
  {
    system,
    output,
    context,
    contents,
  }: {
    system: string | undefined
    output: OutputSchema<unknown> | undefined
    context: string | null
    contents: WholeContent[]
  },
): Agent {
  const isPlain = system === undefined && output === undefined && context === null
  if (isPlain && contents.length === 0) return agent
  const bytes = Buffer.byteLength(system ?? '')
  if (bytes > limits.questionSystemBytesMax)
    throw new WeirError(
      'message.invalid',
      `system has ${bytes} bytes: it must have at most ${limits.questionSystemBytesMax}`,
    )
  if (system?.isWellFormed() === false) throw new WeirError('message.invalid', `system ${halfPair}`)
  const schema = output === undefined ? null : outputText(output)
  const compiled = schema === null ? undefined : compiledSchema(schema)
  if (compiled?.kind === 'unusable')
    throw new WeirError('message.invalid', `output is an unusable schema: ${compiled.reason}`)
  const refs = contents.map(contentRef)
  const ofQuestion = { system: system ?? null, output: schema, context, contents: refs }
  return { ...agent, settings: { ...agent.settings, ...ofQuestion } }
}

/** The context as a record holds it. Null: there is none. */
function contextText(context: unknown): string | null {
  if (context === undefined) return null
  let text: string | undefined
  try {
    text = JSON.stringify(context)
  } catch {} // a circle, or a number that JSON does not have
  if (text === undefined)
    throw new WeirError('message.invalid', 'context has no JSON, so it cannot be recorded')
  const bytes = Buffer.byteLength(text)
  if (bytes <= limits.recordedContextBytesMax) return text
  throw new WeirError(
    'message.invalid',
    `context has ${bytes} bytes: a recorded one must have at most ${limits.recordedContextBytesMax}`,
  )
}

/** 80 random bits: as good as unique, and short enough to be typed on a command line. */
function newId(): string {
  return randomBytes(10).toString('hex')
}

function settingsOf({ bus = defaultBus, ...options }: WeirOptions): Settings {
  const { dataFolder, synchronous, partitions, topicPrefix, retention, toleratedDowntime } = options
  const { dataFolderBytesMax } = options
  const texts = {
    dataFolder,
    synchronous,
    partitions,
    topicPrefix,
    retention,
    toleratedDowntime,
    dataFolderBytesMax,
  }
  const given = Object.entries(texts).filter(([, value]) => value !== undefined)
  try {
    return readSettings(
      {
        ...Object.fromEntries(given.map(([key, value]) => [key, String(value)])),
        ...flagsOfChoice(bus),
      },
      {},
    )
  } catch (error) {
    throw error instanceof WeirError ? aboutOptions(error) : error
  }
}

const defaultBus: BusChoice = { kind: busNames[0] }

function stagesOf({ stages = 'auto' }: WeirOptions, { isLocal }: BusKind): StagesChoice {
  if (!stagesChoices.includes(stages))
    throw new WeirError(
      'settings.invalid',
      `stages is ${JSON.stringify(stages)}; must be ${alternatives(stagesChoices)}`,
    )
  return stages === 'auto' && !isLocal ? 'elsewhere' : stages
}

/** Options are checked as settings, but no command line exists that an error could name. */
function aboutOptions({ code, message }: WeirError): WeirError {
  return new WeirError(code, message.replaceAll(/ \(from the flag [a-z-]+\)/g, ''))
}

/** Refuses a text that the conversation would refuse or that UTF-8 would change. */
function parseText(text: unknown): string {
  if (typeof text !== 'string')
    throw new WeirError('message.invalid', `text is ${shown(text)}; must be a text`)
  const bytes = Buffer.byteLength(text)
  const bytesMax = limits.userMessageBytesMax
  if (bytes < 1 || bytes > bytesMax)
    throw new WeirError(
      'message.invalid',
      `text has ${bytes} bytes: it must have at least 1 and at most ${bytesMax}`,
    )
  if (!text.isWellFormed()) throw new WeirError('message.invalid', `text ${halfPair}`)
  if (text.trim() === '')
    throw new WeirError('message.invalid', 'text is blank: a message needs text')
  return text
}

function unknownAgent(name: string, agents: Agents): WeirError {
  return new WeirError(
    'agent.unknown',
    `unknown agent ${JSON.stringify(name)}: the agents are ${[...agents.keys()].join(', ')}`,
  )
}

/** Throws `message.invalid`. */
function inTenant(tenant: string | undefined, conversation: ConversationId): ConversationId {
  if (tenant === undefined || conversation.startsWith(`${tenant}:`)) return conversation
  if (!isTenant(tenant))
    throw new WeirError(
      'message.invalid',
      `the tenant is ${JSON.stringify(tenant).slice(0, 80)}: ${tenantRule}`,
    )
  return conversationOfTenant(tenant, conversation)
}

function ofCall(conversation: ConversationId): WeirError {
  return new WeirError(
    'message.invalid',
    `the conversation ${JSON.stringify(conversation)} is that of a call, in which only an agent works: give another id`,
  )
}

function closed(): WeirError {
  return new WeirError(
    'bus.closed',
    'this Weir is closed: open it again to continue its open turns',
  )
}
