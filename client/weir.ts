// Weir in a program: the package `weir-agents`. It takes messages and says what becomes of them.
// The stages run in this process, on one SQLite file or on Kafka, or elsewhere, and then this
// process only asks. Owns: opening and closing, and which turns this process waits for. Does not
// own: any decision about a turn; that is the stages', and a turn that was begun goes on when they
// run again, in whichever process.

import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { DecisionOutcome, Desk, WaitingApproval } from '../services/approval/desk.ts'
import { personHere } from '../services/approval/person.ts'
import type { ApprovalSettings } from '../services/approval/registration.ts'
import { providerNamed, providers } from '../services/llm-gateway/providers/providers.ts'
import type { RunningStages, StagesOptions } from '../services/stages.ts'
import type { Agents } from '../shared/agents/agents.ts'
import { loadAgents as readAgentFiles } from '../shared/agents/file/load-agents.ts'
import { compiledSchema } from '../shared/contract/arguments/compiled-schema.ts'
import type { Bus } from '../shared/contract/bus.ts'
import type { Guard } from '../shared/contract/guard.ts'
import { limits } from '../shared/contract/limits.ts'
import { retentionMsOf } from '../shared/contract/retention.ts'
import { topicSpecs } from '../shared/contract/topology.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { createLog } from '../shared/lib/log.ts'
import { readSettings, type Settings } from '../shared/settings/settings.ts'
import { type Edge, openEdge } from './edge.ts'
import { openBus, partitionCount } from './open-bus.ts'
import { askTurn, type Turn } from './turn.ts'

export type { DecisionOutcome, WaitingApproval } from '../services/approval/desk.ts'
export type { ApprovalSettings } from '../services/approval/registration.ts'
export type { ApprovalRule } from '../services/approval/rules.ts'
export type {
  Agent,
  Agents,
  CommandTool,
  HttpTool,
  Model,
  ModuleTool,
  Tool,
} from '../shared/agents/agents.ts'
export { defaultSettings, policyOf } from '../shared/agents/agents.ts'
export type {
  Guard,
  GuardedCall,
  GuardedRound,
  Judgement,
  Verdict,
} from '../shared/contract/guard.ts'
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
export type { Turn } from './turn.ts'
export type { ReasoningDelta, TextDelta, TextReset, TurnEvent, TurnWaiting } from './turn-events.ts'
export { WeirError }

export type WeirOptions = {
  /**
   * An agent file, a folder of them, or agents that the program has made itself, by name. Where the
   * stages run elsewhere they have agents of their own, and of a file only what goes with a message
   * is read: no key and no program is needed here.
   */
  agents: Agents | string
  /** Where the log is. Default: a file in `dataFolder`. */
  bus?: EmbeddedBusChoice | KafkaBusChoice
  /**
   * Who does the work. `here`: this process runs all stages. `elsewhere`: other processes do (`weir
   * up`), and this one asks and listens; its end stops no turn. Default: `here` on the embedded
   * bus, which one process has to itself, and `elsewhere` on Kafka.
   */
  stages?: 'here' | 'elsewhere'
  /**
   * The folder of the log, `weir.db`, one process at a time; on Kafka of local copies of tables.
   * Default `.weir` in the working folder.
   */
  dataFolder?: string
  /**
   * When a write waits for the disk: all survive a killed process, only `full` survives a power
   * loss at any moment. Default `normal`.
   */
  synchronous?: Settings['synchronous']
  /** Of every topic; cannot change once they exist. Default 4; on Kafka, as many as they have. */
  partitions?: number
  /**
   * Before the names of topics; two Weirs with different ones can share a data folder one after the
   * other, or a cluster. Default `weir.`
   */
  topicPrefix?: string
  /**
   * Days for which records are kept, and the history of a conversation in which nothing happens; at
   * least two more than `toleratedDowntime`. Default 7.
   */
  retention?: number
  /** Days for which all of Weir may stand still and still go on with every open turn. Default 3. */
  toleratedDowntime?: number
  /**
   * Guards that run in this process, with the stages; `mode`: of all of them, default what they are
   * registered with, and `shadow` for new ones. One that was registered and is not among them is
   * still in force until it is removed: nobody answers for it, and its on-timeout decides.
   */
  guards?: { guards: readonly Guard[]; mode?: 'shadow' | 'enforce' }
  /**
   * Which calls wait for a person, where the stages run here; as `weir approvals rules` sets them.
   * Rules that were set before stay in force where this is left out.
   */
  approvals?: ApprovalSettings
  /** A pino logger. Default: lines of JSON at `warn` and above on standard error. */
  log?: Logger
}

export type EmbeddedBusChoice = { kind: 'embedded' }

/** As Kafka's own tools take it. */
export type KafkaBusChoice = {
  kind: 'kafka'
  /**
   * `HOST:PORT`, several with commas between them. Default: `bootstrap.servers` of the properties.
   */
  bootstrapServer?: string
  /** The path of a client.properties. */
  commandConfig?: string
  /** Over those of the file. */
  properties?: Record<string, string>
}

/**
 * What a user says. Messages of one conversation are answered one after the other, in the order in
 * which they were asked.
 */
export type Question = {
  /** The agent's name. */
  agent: string
  /** 1 byte to 1 MiB, not blank. */
  text: string
  /**
   * Which conversation goes on; one that does not exist begins. At most 256 bytes. Default: a new
   * one.
   */
  conversation?: string
  /**
   * The client's own id of the message. The same id again in the same conversation is the same
   * message, so a program that was killed can ask again and gets the answer once. At most 256
   * bytes. Default: a new one. On Kafka a process that gives ids of its own keeps a copy of the
   * history of the partitions that it asks about, in the data folder.
   */
  messageId?: string
  /** Cancels the turn when it aborts. */
  signal?: AbortSignal
}

export type Weir = {
  /** The agents that may be asked. */
  readonly agents: Agents
  /**
   * Rejects with what keeps the stages of this process from going on: a full disk, a damaged file,
   * a bug. Every open turn fails with the same error. Never resolves; where the stages run
   * elsewhere, never rejects either.
   */
  readonly failed: Promise<never>
  /**
   * Sends a message and answers with its turn, at once. Throws where there is nothing to send:
   * `agent.unknown`, `message.invalid` (with what would be taken), `bus.closed`, or what `failed`
   * rejected with.
   */
  ask(question: Question): Turn
  /**
   * Asks for the end of a message's turn, also one that another process had begun. See Turn.cancel.
   */
  cancel(message: { conversation: string; messageId: string }): Promise<void>
  /**
   * The calls that wait for a person, in all conversations of this log, those that came first
   * first. A turn's events name its own: `approval-pending`.
   */
  approvals(): Promise<WaitingApproval[]>
  /**
   * Lets a call run that waits under this id, with exactly the arguments that wait. `by`: who
   * decides, by their own word; default: the user of this process. `hash`: of what was shown to
   * them; default: of what waits. What came of it says the answer: a decision that came second, or
   * too late, changes nothing. Throws `approval.unknown`, `approval.ambiguous`.
   */
  approve(id: string, decision?: { by?: string; hash?: string }): Promise<DecisionOutcome>
  /** Refuses it; `reason` is told to the model. Else as `approve`. */
  reject(
    id: string,
    decision?: { by?: string; hash?: string; reason?: string },
  ): Promise<DecisionOutcome>
  /**
   * Stops: nothing new starts, what was claimed and has not started is given back, and running
   * tools may end within 10 seconds. Where the stages run here on a Kafka that does not answer, it
   * gives up what it cannot write there, and takes up to half a minute. Turns that are still open
   * fail here with `bus.closed`. They go on when the data folder is opened again, or at once where
   * the stages run elsewhere; the same message id hears their end.
   */
  close(): Promise<void>
}

export const Weir = { open }

/**
 * Starts Weir in this process. Errors: `agent.invalid` (every mistake of the agent files, with line
 * and remedy), `settings.invalid` (options, or the client's properties), `bus.locked` (the data
 * folder is in use), `bus.topic-missing` (on Kafka, before `weir topics create`), and others of the
 * bus.
 */
async function open(options: WeirOptions): Promise<Weir> {
  const settings = settingsOf(options)
  const stages = stagesOf(options, settings)
  const agents =
    typeof options.agents === 'string'
      ? agentsIn(options.agents, process.env, stages === 'elsewhere')
      : options.agents
  if (stages === 'here') for (const { model } of agents.values()) providerNamed(model.provider)
  const { topicPrefix } = settings
  const retentionMs = retentionMsOf(settings.retention)
  const log = options.log ?? createLog({ level: 'warn' })
  const bus = await openBus(
    settings,
    log,
    stages === 'elsewhere' ? { connectMs: askConnectMs } : {},
  )
  try {
    const partitions = await partitionsOf(bus, stages, options, settings)
    const running =
      stages === 'here'
        ? await runHere({ bus, agents, topicPrefix, partitions, retentionMs, log }, options)
        : runElsewhere()
    // Loaded when somebody decides: it brings the engines of the rules along.
    const desk = async () =>
      (await import('../services/approval/desk.ts')).openDesk({
        bus,
        append: (records) => bus.append(records),
        topicPrefix,
        partitions,
      })
    return weirOf({ agents, bus, running, edge: openEdge({ bus, topicPrefix, partitions }), desk })
  } catch (error) {
    await bus.close()
    throw error
  }
}

/** Somebody waits for the answer. */
const askConnectMs = 15_000

/** They take a while to load, and who only asks needs none. */
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
  failed.catch(() => {}) // whoever does not ask is not brought down by the answer
  return {
    failed,
    async close() {
      await guards.close()
      await stages.close()
    },
  }
}

/**
 * Where the stages run here the bus makes sure of the number. Elsewhere nobody would: a message
 * would go to a partition that is not its conversation's.
 */
async function partitionsOf(
  bus: Bus,
  stages: 'here' | 'elsewhere',
  { partitions }: WeirOptions,
  settings: Settings,
): Promise<number> {
  if (settings.bus === 'embedded') return settings.partitions
  if (stages === 'here' && partitions !== undefined) return partitions
  const found = await partitionCount(bus, settings.topicPrefix)
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
 * The agents of a file or a folder. `environment`: what `${NAME}` in them stands for. Throws
 * `agent.invalid` with every mistake.
 */
export function loadAgents(path: string, environment: NodeJS.ProcessEnv = process.env): Agents {
  return agentsIn(path, environment, false)
}

function agentsIn(path: string, environment: NodeJS.ProcessEnv, forMessages: boolean): Agents {
  const options = {
    forMessages,
    checkSchema(schema: string) {
      const compiled = compiledSchema(schema)
      return compiled.kind === 'unusable' ? compiled.reason : undefined
    },
  }
  return readAgentFiles(path, environment, options, { providers })
}

type Parts = {
  agents: Agents
  bus: Bus
  running: Pick<RunningStages, 'failed' | 'close'>
  edge: Edge
  desk: () => Promise<Desk>
}

function weirOf({ agents, bus, running, edge, desk }: Parts): Weir {
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

    ask({ agent: name, text, conversation = newId(), messageId, signal }) {
      assertOpen()
      const agent = agents.get(name)
      if (agent === undefined) throw unknownAgent(name, agents)
      const question = { agent, conversation, messageId: messageId ?? newId(), text }
      check(question)
      const turn = askTurn({
        edge,
        clock: bus.clock,
        question,
        isNew: messageId === undefined,
        signal,
        over: () => turns.delete(turn),
      })
      turns.add(turn)
      return turn
    },

    async cancel(message) {
      assertOpen()
      await edge.cancel(message)
    },

    async approvals() {
      assertOpen()
      return (await desk()).waiting()
    },

    async approve(id, { by = personHere(), hash } = {}) {
      assertOpen()
      return (await desk()).decide({ id, answer: 'approve', by, hash })
    },

    async reject(id, { by = personHere(), hash, reason } = {}) {
      assertOpen()
      return (await desk()).decide({ id, answer: 'reject', by, hash, reason })
    },

    close() {
      closing ??= close()
      return closing
    },
  }
}

/** 80 random bits: as good as unique, and short enough to be typed on a command line. */
function newId(): string {
  return randomBytes(10).toString('hex')
}

function settingsOf({ bus = { kind: 'embedded' }, ...options }: WeirOptions): Settings {
  const { dataFolder, synchronous, partitions, topicPrefix, retention, toleratedDowntime } = options
  const { kind, bootstrapServer, commandConfig, properties } = { ...noKafka, ...bus }
  const texts = {
    bus: kind,
    dataFolder,
    synchronous,
    partitions,
    topicPrefix,
    retention,
    toleratedDowntime,
    bootstrapServer,
    commandConfig,
  }
  const given = Object.entries(texts).filter(([, value]) => value !== undefined)
  const commandProperty = Object.entries(properties ?? {}).map(
    ([name, value]) => `${name}=${value}`,
  )
  try {
    return readSettings(
      { ...Object.fromEntries(given.map(([key, value]) => [key, String(value)])), commandProperty },
      {},
    )
  } catch (error) {
    throw error instanceof WeirError ? aboutOptions(error) : error
  }
}

const noKafka: Omit<KafkaBusChoice, 'kind'> = {}

function stagesOf({ stages }: WeirOptions, { bus }: Settings): 'here' | 'elsewhere' {
  if (bus === 'embedded' && stages === 'elsewhere')
    throw new WeirError(
      'settings.invalid',
      "stages cannot run elsewhere on the embedded bus, which one process has to itself: give bus { kind: 'kafka', … }, or leave stages out",
    )
  return stages ?? (bus === 'embedded' ? 'here' : 'elsewhere')
}

/** Options are judged as settings are, but there is no command line that they could come from. */
function aboutOptions({ code, message }: WeirError): WeirError {
  return new WeirError(code, message.replaceAll(/ \(from the flag [a-z-]+\)/g, ''))
}

/** What the conversation would refuse, or what would not come through as it is. */
function check({
  conversation,
  messageId,
  text,
}: {
  conversation: string
  messageId: string
  text: string
}): void {
  checkSize('conversation', conversation, limits.conversationIdBytesMax)
  checkSize('messageId', messageId, limits.messageIdBytesMax)
  checkSize('text', text, limits.userMessageBytesMax)
  if (text.trim() === '')
    throw new WeirError('message.invalid', 'text is blank: a message must say something')
}

function checkSize(name: string, value: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(value)
  if (bytes < 1 || bytes > bytesMax)
    throw new WeirError(
      'message.invalid',
      `${name} has ${bytes} bytes: it must have at least 1 and at most ${bytesMax}`,
    )
  if (!value.isWellFormed())
    throw new WeirError(
      'message.invalid',
      `${name} has half of a surrogate pair in it, which UTF-8 cannot say: cut it between characters`,
    )
}

function unknownAgent(name: string, agents: Agents): WeirError {
  return new WeirError(
    'agent.unknown',
    `there is no agent ${JSON.stringify(name)}: the agents are ${[...agents.keys()].join(', ')}`,
  )
}

function closed(): WeirError {
  return new WeirError('bus.closed', 'this Weir is closed: open it again, and open turns go on')
}
