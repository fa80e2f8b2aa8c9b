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
import type { RunningStages, StagesOptions } from '../services/stages.ts'
import type {
  Agent as AgentOf,
  Agents as AgentsOf,
  Model as ModelOf,
} from '../shared/agents/agents.ts'
import { secretsOf } from '../shared/agents/secrets.ts'
import { busKindOf, busNamesWhere } from '../shared/bus/kinds.ts'
import { compiledSchema } from '../shared/contract/arguments/compiled-schema.ts'
import type { Bus } from '../shared/contract/bus.ts'
import type { Guard } from '../shared/contract/guard.ts'
import {
  type ConversationId,
  halfPair,
  type MessageId,
  parseConversationId,
  parseMessageId,
} from '../shared/contract/ids.ts'
import { limits } from '../shared/contract/limits.ts'
import { retentionMsOf } from '../shared/contract/retention.ts'
import { topicSpecs } from '../shared/contract/topology.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { createLog } from '../shared/lib/log.ts'
import { alternatives } from '../shared/settings/mistake.ts'
import { busNames, readSettings, type Settings } from '../shared/settings/settings.ts'
import { agentsInFiles, agentsOfProgram } from './agents-in-files.ts'
import { type BusChoice, flagsOfChoice } from './bus-choice.ts'
import { type Contexts, createContexts } from './contexts.ts'
import type { DefinedAgent } from './define/define-agent.ts'
import { type Edge, openEdge } from './edge.ts'
import { refuseUnknownKeys } from './known-keys.ts'
import { keepPartitionCount, openBus, openBusForStages, partitionCount } from './open-bus.ts'
import { askTurn, type Turn } from './turn.ts'
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
export type { EmbeddedBusChoice, KafkaBusChoice } from './bus-choice.ts'
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
export type { Turn } from './turn.ts'
export type {
  ModelRetry,
  ReasoningDelta,
  TextDelta,
  TextReset,
  TurnEvent,
  TurnWaiting,
} from './turn-events.ts'
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
   * `here`: this process runs all stages. `elsewhere`: other processes run them (`weir up`); the
   * end of this process stops no turn. Default: `here` on the embedded bus, which allows one
   * process, and `elsewhere` on Kafka.
   */
  stages?: 'here' | 'elsewhere'
  /**
   * The folder of the log, `weir.db`, for one process at a time. On Kafka: the folder of local
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
 */
type ContextField<Context> = undefined extends Context
  ? { context?: Context }
  : { context: Context }

type QuestionFields = {
  /** A text behind the agent's instructions, for this question only. At most 64 KiB. */
  system?: string
  /** 1 byte to 1 MiB, not blank. */
  text: string
  /** The conversation to continue or begin. At most 256 bytes. Default: a new one. */
  conversation?: ConversationId
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
 * `settings.invalid` for options or the client's properties. `bus.locked`: the data folder is in
 * use. `bus.topic-missing`: on Kafka, before `weir topics create`. Other errors come from the bus.
 */
async function open(options: WeirOptions): Promise<Weir> {
  refuseInTool()
  refuseUnknownKeys(options, optionNames, { code: 'settings.invalid', subject: 'Weir.open' })
  const settings = settingsOf(options)
  const stages = stagesOf(options, settings)
  const agents = agentsOf(options.agents, stages)
  if (stages === 'here') for (const { model } of agents.values()) providerNamed(model.provider)
  const { topicPrefix } = settings
  const retentionMs = retentionMsOf(settings.retention)
  const log = options.log ?? createLog({ level: 'warn', secrets: secretsOf(agents) })
  const bus =
    stages === 'elsewhere'
      ? await openBus(settings, log, { connectMs: askConnectMs })
      : await openBusForStages(settings, log, { runImported: options.runImported })
  try {
    const partitions = await partitionsOf(bus, stages, options, settings)
    const contexts = createContexts(bus.clock)
    const parts = { bus, agents, topicPrefix, partitions, retentionMs, log }
    const running =
      stages === 'here'
        ? await runHere({ ...parts, contextOf: contexts.of }, options)
        : runElsewhere()
    if (stages === 'here' && !busKindOf(settings).ownsTopics)
      await keepPartitionCount({ bus, topicPrefix, partitions, log })
    // Loaded for the first decision: it imports the engines of the rules.
    const approvals = async () =>
      (await import('../services/approval/approvals.ts')).openApprovals({
        bus,
        append: (records) => bus.append(records),
        topicPrefix,
        partitions,
      })
    return weirOf({
      agents,
      contexts,
      bus,
      running,
      edge: openEdge({ bus, topicPrefix, partitions }),
      approvals,
    })
  } catch (error) {
    await bus.close()
    throw error
  }
}

/** Short, because a person may wait. */
const askConnectMs = 15_000

/** Loads the stages on first use: loading takes time, and a client needs none of them. */
async function runHere(
  options: StagesOptions,
  { guards: own, approvals }: Pick<WeirOptions, 'guards' | 'approvals'>,
): Promise<Pick<RunningStages, 'failed' | 'close'>> {
  const { startStages } = await import('../services/stages.ts')
  if (own === undefined && approvals === undefined) return startStages(options)
  const { bus, topicPrefix, partitions, retentionMs = retentionMsOf(), log } = options
  // Before the stages: no turn that was open goes on without the guards.
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs))
  if (approvals !== undefined) {
    const { keepApprovalRules } = await import('../services/approval/registration.ts')
    await keepApprovalRules({ bus, topicPrefix }, approvals)
  }
  if (own === undefined) return startStages(options)
  const { startGuards } = await import('../shared/runtime/guards/start-guards.ts')
  const guards = await startGuards({ bus, topicPrefix, partitions, retentionMs, log, ...own })
  const stages = await startStages(options).catch(async (error: unknown) => {
    await guards.close()
    throw error
  })
  const failed = Promise.race([stages.failed, guards.failed])
  failed.catch(() => {}) // it may have no reader: no unhandled rejection
  return {
    failed,
    async close() {
      await guards.close()
      await stages.close()
    },
  }
}

/**
 * With a wrong number, a message would go to a partition that is not its conversation's. Stages
 * that run here create missing topics, so the number of a new log is the option's.
 */
async function partitionsOf(
  bus: Bus,
  stages: 'here' | 'elsewhere',
  { partitions }: WeirOptions,
  settings: Settings,
): Promise<number> {
  if (busKindOf(settings).ownsTopics) return settings.partitions
  const found = await partitionCount(bus, settings.topicPrefix).catch((error: unknown) => {
    const isNew = error instanceof WeirError && error.code === 'bus.topic-missing'
    if (isNew && stages === 'here' && partitions !== undefined) return partitions
    throw error
  })
  if (partitions === undefined || partitions === found) return found
  throw new WeirError(
    'bus.topic-differs',
    `the topics have ${found} partitions, and the option partitions is ${partitions}: leave it out`,
  )
}

function runElsewhere(): Pick<RunningStages, 'failed' | 'close'> {
  return { failed: new Promise<never>(() => {}), close: async () => {} }
}

/**
 * The agents of a file or a folder. `environment`: the values of `${NAME}` in them. Throws
 * `agent.invalid` with every mistake.
 */
export function loadAgents(path: string, environment: NodeJS.ProcessEnv = process.env): Agents {
  return agentsInFiles(path, environment)
}

function agentsOf(agents: WeirOptions['agents'], stages: 'here' | 'elsewhere'): Agents {
  const needs = stages === 'elsewhere' ? [] : undefined
  if (typeof agents === 'string') return agentsInFiles(agents, process.env, needs)
  return agents instanceof Map ? agents : agentsOfProgram([...agents.values()], process.env, needs)
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
    system: 1,
    output: 1,
    context: 1,
    conversation: 1,
    messageId: 1,
    signal: 1,
  },
} satisfies Record<keyof Question, 1>)

type Parts = {
  agents: Agents
  contexts: Contexts
  bus: Bus
  running: Pick<RunningStages, 'failed' | 'close'>
  edge: Edge
  approvals: () => Promise<Approvals>
}

function weirOf({ agents, contexts, bus, running, edge, approvals }: Parts): Weir {
  const turns = new Set<ReturnType<typeof askTurn>>()
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

  async function close(): Promise<void> {
    try {
      await running.close()
    } finally {
      failTurns(closed())
      edge.close()
      await bus.close()
    }
  }

  return {
    agents,
    failed: running.failed,

    ask<Context, Output>(given: Question<Context, Output>) {
      assertOpen()
      refuseUnknownKeys(given, questionNames, { code: 'message.invalid', subject: 'ask' })
      const { text, system, output, context, signal } = given
      const { conversation = newId(), messageId } = given
      const name = typeof given.agent === 'string' ? given.agent : given.agent.name
      const agent = agents.get(name)
      if (agent === undefined) throw unknownAgent(name, agents)
      const question = {
        agent: forQuestion(agent, system, output),
        conversation: parseConversationId(conversation),
        messageId: parseMessageId(messageId ?? newId()),
        text: parseText(text),
      }
      const kept = context === undefined ? undefined : contexts.keep(question, context)
      const turn = askTurn({
        edge,
        clock: bus.clock,
        question,
        isNew: messageId === undefined,
        signal,
        output,
        onStarted: (number) => kept?.begin(number),
        onOver() {
          kept?.drop()
          turns.delete(turn)
        },
      })
      turns.add(turn)
      return turn as Turn<Output> // outputOf has checked it
    },

    async cancel(message) {
      assertOpen()
      await edge.cancel(message)
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
  system: string | undefined,
  output: OutputSchema<unknown> | undefined,
): Agent {
  if (system === undefined && output === undefined) return agent
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
  return { ...agent, settings: { ...agent.settings, system: system ?? null, output: schema } }
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

function stagesOf({ stages }: WeirOptions, settings: Settings): 'here' | 'elsewhere' {
  const { isLocal, title } = busKindOf(settings)
  if (isLocal && stages === 'elsewhere') {
    const others = busNamesWhere((kind) => !kind.isLocal).map((name) => `{ kind: '${name}', … }`)
    throw new WeirError(
      'settings.invalid',
      `stages cannot run elsewhere on ${title}, which one process has to itself: give bus ${alternatives(others)}, or leave stages out`,
    )
  }
  return stages ?? (isLocal ? 'here' : 'elsewhere')
}

/** Options are checked as settings, but no command line exists that an error could name. */
function aboutOptions({ code, message }: WeirError): WeirError {
  return new WeirError(code, message.replaceAll(/ \(from the flag [a-z-]+\)/g, ''))
}

/** Refuses a text that the conversation would refuse or that UTF-8 would change. */
function parseText(text: string): string {
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

function closed(): WeirError {
  return new WeirError(
    'bus.closed',
    'this Weir is closed: open it again to continue its open turns',
  )
}
