// The question of `ask`: its types, its checks, and its agent with the settings of this question.

import { randomBytes } from 'node:crypto'
import { compiledSchema } from '../../shared/contract/arguments/compiled-schema.ts'
import { contentRef, type WholeContent } from '../../shared/contract/call/contents.ts'
import {
  type ConversationId,
  halfPair,
  isConversationOfCall,
  type MessageId,
  parseConversationId,
  parseMessageId,
} from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import {
  conversationOfTenant,
  isNamedTenant,
  namedTenantRule,
} from '../../shared/contract/tenant.ts'
import { messageError, WeirError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import type { Agent, Agents } from '../agents/agents-in-files.ts'
import type { CallTypes } from '../define/call-types.ts'
import type { DefinedAgent } from '../define/define-agent.ts'
import { needOptions, needSignal, needText } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import { jsonOf } from '../plain-json.ts'
import { contentsOf, type FileInput, type ImageInput } from './question-contents.ts'
import type { AskOptions } from './turn.ts'
import { type OutputSchema, outputText } from './turn-output.ts'

/** The name of a user. */
const userIdBytesMax = 256

/** A user's message. Messages of one conversation are answered one by one, in their order. */
export type Question<
  Context = unknown,
  Output = unknown,
  Call extends CallTypes = CallTypes,
> = QuestionFields & {
  /** The agent, or its name. */
  agent: string | DefinedAgent<Context, Call>
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
  /** A text after the agent's instructions, for this question only. At most 64 KiB. */
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
   * Your id of the user who asks, 1 to 256 bytes. The log keeps it, so `weir.forget` and `weir forget
   * --user` find the conversations of a user. Default: none.
   */
  user?: string
  /**
   * Your id of the message. The same id in the same conversation is the same message, so a program
   * that was killed can ask again and gets the answer once. At most 256 bytes. Default: a new id.
   * On Kafka, a process that gives ids keeps a copy of the history of their partitions in the data
   * folder.
   */
  messageId?: MessageId
  /**
   * The number of the turn that this message follows: it replaces the turns after that one, which stay
   * in the log and leave the history. -1: it replaces all turns. Default: it follows the newest turn.
   * An open turn goes on: cancel it first.
   */
  afterTurn?: number
  /** Cancels the turn when it aborts. */
  signal?: AbortSignal
}

const questionNames = Object.keys({
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
  user: 1,
  messageId: 1,
  afterTurn: 1,
  signal: 1,
} satisfies Record<keyof Question, 1>)

/** A question of any context and output. */
type GivenQuestion = QuestionFields & {
  agent: string | DefinedAgent<never>
  output?: OutputSchema<unknown>
  context?: unknown
  record?: boolean
}

/** A question that can be sent. `isNew`: its message id is new. */
export type CheckedQuestion = Pick<AskOptions, 'question' | 'isNew' | 'signal' | 'output'> & {
  context: unknown
}

/** Throws `agent.unknown`, and `message.invalid` with the accepted values. */
export function checkedQuestion(given: GivenQuestion, agents: Agents): CheckedQuestion {
  const asked = { code: 'message.invalid', subject: 'ask' } as const
  needOptions(given, { ...asked, example: "{ agent: 'ops', text: 'Hello' }" })
  refuseUnknownKeys(given, questionNames, asked)
  const { text, system, output, context, record = false, signal } = given
  needText('system', system, 'message.invalid')
  needSignal(signal, 'message.invalid')
  if (given.user !== undefined) parseUser(given.user)
  const contents = contentsOf(given.images, given.files)
  const { afterTurn } = given
  if (afterTurn !== undefined && !(Number.isSafeInteger(afterTurn) && afterTurn >= -1))
    throw messageError(`afterTurn is ${shown(afterTurn)}; must be the number of a turn, or -1`)
  const { messageId } = given
  const conversation = inTenant(given.tenant, given.conversation ?? newId())
  const name = typeof given.agent === 'object' ? given.agent?.name : given.agent
  const agent = agents.get(name)
  if (agent === undefined) throw unknownAgent(name, agents)
  if (isConversationOfCall(conversation)) throw ofCall(conversation)
  const question = {
    agent: forQuestion(agent, {
      system,
      output,
      contents,
      context: record ? contextText(context) : null,
      afterTurn,
    }),
    contents,
    conversation: parseConversationId(conversation),
    messageId: parseMessageId(messageId ?? newId()),
    text: parseText(text),
    user: given.user,
  }
  return { question, isNew: messageId === undefined, context, signal, output }
}

/** The agent with the settings of one question. */
function forQuestion(
  agent: Agent,
  {
    system,
    output,
    context,
    contents,
    afterTurn,
  }: {
    system: string | undefined
    output: OutputSchema<unknown> | undefined
    context: string | null
    contents: WholeContent[]
    afterTurn: number | undefined
  },
): Agent {
  const isPlain = system === undefined && output === undefined && context === null
  if (isPlain && contents.length === 0 && afterTurn === undefined) return agent
  const bytes = Buffer.byteLength(system ?? '')
  if (bytes > limits.questionSystemBytesMax)
    throw messageError(
      `system has ${bytes} bytes: it must have at most ${limits.questionSystemBytesMax}`,
    )
  if (system?.isWellFormed() === false) throw messageError(`system ${halfPair}`)
  const schema = output === undefined ? null : outputText(output)
  const compiled = schema === null ? undefined : compiledSchema(schema)
  if (compiled?.kind === 'unusable')
    throw messageError(`output is an unusable schema: ${compiled.reason}`)
  const refs = contents.map(contentRef)
  const ofQuestion = {
    system: system ?? null,
    output: schema,
    context,
    contents: refs,
    afterTurn: afterTurn ?? null,
  }
  return { ...agent, settings: { ...agent.settings, ...ofQuestion } }
}

/** The context as a record holds it. Null: there is none. */
function contextText(context: unknown): string | null {
  if (context === undefined) return null
  const text = jsonOf(context)
  if (text === undefined)
    throw messageError(
      'context cannot be recorded: it holds a value that JSON does not have, such as a function, a date or a connection. Give plain values, or leave record out',
    )
  const bytes = Buffer.byteLength(text)
  if (bytes <= limits.recordedContextBytesMax) return text
  throw messageError(
    `context has ${bytes} bytes: a recorded one must have at most ${limits.recordedContextBytesMax}`,
  )
}

/** Throws `message.invalid` for a text that cannot be the id of a user. */
export function parseUser(user: unknown): string {
  const bytes = typeof user === 'string' ? Buffer.byteLength(user) : 0
  if (typeof user === 'string' && bytes >= 1 && bytes <= userIdBytesMax && user.isWellFormed())
    return user
  throw messageError(`user is ${shown(user)}; must be a text of 1 to ${userIdBytesMax} bytes`)
}

/** 80 random bits: as good as unique, and short enough to be typed on a command line. */
function newId(): string {
  return randomBytes(10).toString('hex')
}

/** Refuses a text that the conversation would refuse or that UTF-8 would change. */
export function parseText(text: unknown): string {
  if (typeof text !== 'string') throw messageError(`text is ${shown(text)}; must be a text`)
  const bytes = Buffer.byteLength(text)
  const bytesMax = limits.userMessageBytesMax
  if (bytes < 1 || bytes > bytesMax)
    throw messageError(`text has ${bytes} bytes: it must have at least 1 and at most ${bytesMax}`)
  if (!text.isWellFormed()) throw messageError(`text ${halfPair}`)
  if (text.trim() === '') throw messageError('text is blank: a message needs text')
  return text
}

function unknownAgent(name: unknown, agents: Agents): WeirError {
  return new WeirError(
    'agent.unknown',
    `unknown agent ${shown(name)}: the agents are ${[...agents.keys()].join(', ')}`,
  )
}

function ofCall(conversation: ConversationId): WeirError {
  return messageError(
    `the conversation ${JSON.stringify(conversation)} is that of a call, in which only an agent works: give another id`,
  )
}

/** Throws `message.invalid`. */
function inTenant(tenant: string | undefined, conversation: ConversationId): ConversationId {
  if (tenant === undefined) return conversation
  if (typeof tenant !== 'string' || !isNamedTenant(tenant))
    throw messageError(`the tenant is ${JSON.stringify(tenant)?.slice(0, 80)}: ${namedTenantRule}`)
  const id = parseConversationId(conversation)
  return id.startsWith(`${tenant}:`) ? id : conversationOfTenant(tenant, id)
}
