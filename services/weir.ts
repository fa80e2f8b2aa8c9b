// Weir in a program: the package `weir-agents`. It runs the six stages in this process on one SQLite file, takes messages, and says what becomes of them.
// Owns: opening and closing, and which turns this process waits for. Does not own: any decision about a turn; that is the stages', and a turn that
// was begun goes on when its data folder is opened again, by whichever process.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { loadAgents as readAgentFiles } from '../shared/agent-file/load-agents.ts'
import type { Agents } from '../shared/agents.ts'
import { openEmbeddedBus } from '../shared/bus/embedded/bus.ts'
import type { Bus } from '../shared/bus/port.ts'
import { systemClock } from '../shared/clock.ts'
import { WeirError } from '../shared/errors.ts'
import { limits } from '../shared/limits.ts'
import { createLog } from '../shared/log.ts'
import { foldFrom } from '../shared/runtime/position.ts'
import type { Settings } from '../shared/settings.ts'
import { readSettings } from '../shared/settings.ts'
import type { Edge } from './edge/edge.ts'
import { openEdge } from './edge/edge.ts'
import type { Turn } from './edge/turn.ts'
import { askTurn } from './edge/turn.ts'
import type { RunningStages } from './stages.ts'
import { startStages } from './stages.ts'
import { compiledSchema } from './validator/compiled-schema.ts'

export type { Agent, Agents, CommandTool, HttpTool, Model, ModuleTool, Tool } from '../shared/agents.ts'
export { defaultSettings, policyOf } from '../shared/agents.ts'
export type { ErrorCode } from '../shared/errors.ts'
export type { AgentSettings, Declaration, FailureClass, ResultStatus, TurnFinished, TurnOutcome } from '../shared/messages.ts'
export type { Turn } from './edge/turn.ts'
export type { ReasoningDelta, TextDelta, TextReset, TurnEvent, TurnWaiting } from './edge/turn-events.ts'
export { WeirError }

export type WeirOptions = {
  /** An agent file, a folder of them, or agents that the program has made itself, by name. */
  agents: Agents | string
  /** The folder of the log, `weir.db`; one process at a time. Default `.weir` in the working folder. */
  dataFolder?: string
  /** When a write waits for the disk: all survive a killed process, only `full` survives a power loss at any moment. Default `normal`. */
  synchronous?: Settings['synchronous']
  /** Of every topic; cannot change once the data folder exists. Default 4. */
  partitions?: number
  /** Before the names of topics; two Weirs with different ones can share a data folder one after the other. Default `weir.` */
  topicPrefix?: string
  /** A pino logger. Default: lines of JSON at `warn` and above on standard error. */
  log?: Logger
}

/** What a user says. Messages of one conversation are answered one after the other, in the order in which they were asked. */
export type Question = {
  /** The agent's name. */
  agent: string
  /** 1 byte to 1 MiB, not blank. */
  text: string
  /** Which conversation goes on; one that does not exist begins. At most 256 bytes. Default: a new one. */
  conversation?: string
  /**
   * The client's own id of the message. The same id again in the same conversation is the same message, so a program that was killed can ask again
   * and gets the answer once. At most 256 bytes. Default: a new one.
   */
  messageId?: string
  /** Cancels the turn when it aborts. */
  signal?: AbortSignal
}

export type Weir = {
  /** The agents that may be asked. */
  readonly agents: Agents
  /** Rejects with what keeps Weir from going on: a full disk, a damaged file, a bug. Every open turn fails with the same error. Never resolves. */
  readonly failed: Promise<never>
  /**
   * Sends a message and answers with its turn, at once. Throws where there is nothing to send: `agent.unknown`, `message.invalid` (with what would be
   * taken), `bus.closed`, or what `failed` rejected with.
   */
  ask(question: Question): Turn
  /** Asks for the end of a message's turn, also one that another process had begun. See Turn.cancel. */
  cancel(message: { conversation: string; messageId: string }): Promise<void>
  /**
   * Stops: nothing new starts, what was claimed and has not started is given back, and running tools may end within 10 seconds. Turns that are still
   * open fail here with `bus.closed`, and go on when the data folder is opened again.
   */
  close(): Promise<void>
}

export const Weir = { open }

/**
 * Starts Weir in this process. Errors: `agent.invalid` (every mistake of the agent files, with line and remedy), `settings.invalid`, `bus.locked` (the
 * data folder is in use), and others of the bus that name the file.
 */
async function open(options: WeirOptions): Promise<Weir> {
  const agents = typeof options.agents === 'string' ? loadAgents(options.agents) : options.agents
  const { dataFolder, topicPrefix, partitions, synchronous } = settingsOf(options)
  const log = options.log ?? createLog({ level: 'warn' })
  const bus = await openEmbeddedBus({ file: join(dataFolder, 'weir.db'), clock: systemClock, synchronous, keepFrom: foldFrom, log })
  try {
    const running = await startStages({ bus, agents, topicPrefix, partitions, log })
    return weirOf({ agents, bus, running, edge: openEdge({ bus, topicPrefix, partitions }) })
  } catch (error) {
    await bus.close()
    throw error
  }
}

/** The agents of a file or a folder. `environment`: what `${NAME}` in them stands for. Throws `agent.invalid` with every mistake. */
export function loadAgents(path: string, environment: NodeJS.ProcessEnv = process.env): Agents {
  return readAgentFiles(path, environment, {
    checkSchema(schema) {
      const compiled = compiledSchema(schema)
      return compiled.kind === 'unusable' ? compiled.reason : undefined
    },
  })
}

type Parts = { agents: Agents; bus: Bus; running: RunningStages; edge: Edge }

function weirOf({ agents, bus, running, edge }: Parts): Weir {
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
      const turn = askTurn({ edge, clock: bus.clock, question, isNew: messageId === undefined, signal, over: () => turns.delete(turn) })
      turns.add(turn)
      return turn
    },

    async cancel(message) {
      assertOpen()
      await edge.cancel(message)
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

function settingsOf({ dataFolder, synchronous, partitions, topicPrefix }: WeirOptions): Settings {
  const given = Object.entries({ dataFolder, synchronous, partitions, topicPrefix }).filter(([, value]) => value !== undefined)
  try {
    return readSettings(Object.fromEntries(given.map(([key, value]) => [key, String(value)])), {})
  } catch (error) {
    throw error instanceof WeirError ? aboutOptions(error) : error
  }
}

/** Options are judged as settings are, but there is no command line that they could come from. */
function aboutOptions({ code, message }: WeirError): WeirError {
  return new WeirError(code, message.replaceAll(/ \(from the flag [a-z-]+\)/g, ''))
}

/** What the conversation would refuse, or what would not come through as it is. */
function check({ conversation, messageId, text }: { conversation: string; messageId: string; text: string }): void {
  checkSize('conversation', conversation, limits.conversationIdBytesMax)
  checkSize('messageId', messageId, limits.messageIdBytesMax)
  checkSize('text', text, limits.userMessageBytesMax)
  if (text.trim() === '') throw new WeirError('message.invalid', 'text is blank: a message must say something')
}

function checkSize(name: string, value: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(value)
  if (bytes < 1 || bytes > bytesMax)
    throw new WeirError('message.invalid', `${name} has ${bytes} bytes: it must have at least 1 and at most ${bytesMax}`)
  if (!value.isWellFormed())
    throw new WeirError('message.invalid', `${name} has half of a surrogate pair in it, which UTF-8 cannot say: cut it between characters`)
}

function unknownAgent(name: string, agents: Agents): WeirError {
  return new WeirError('agent.unknown', `there is no agent ${JSON.stringify(name)}: the agents are ${[...agents.keys()].join(', ')}`)
}

function closed(): WeirError {
  return new WeirError('bus.closed', 'this Weir is closed: open it again, and open turns go on')
}
