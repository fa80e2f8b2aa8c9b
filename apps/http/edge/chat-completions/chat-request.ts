// The body of `POST /v1/chat/completions`.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { earlierMessages } from '../../../../shared/model-texts/requests.ts'
import {
  choiceMembers,
  sentMessage,
} from '../../../../shared/wire/openai-chat/request/sent-message.ts'
import { bad } from '../../http-error.ts'
import type { CallAnswer } from '../chat/call-results.ts'
import {
  isSwitch,
  type MessageContent,
  messageOfContent,
  refuseFields,
  textOfContent,
  toolChoice,
  toolNames,
} from '../chat/request-message.ts'
import type { Exchange } from '../chat/resent-history.ts'

/** A message that the client resends. */
export type Resent = { role: 'user' | 'assistant'; text: string }

/**
 * `message` undefined: the request has results of calls only. `results`: those at the end, in front of
 * the message. `history`: the messages in front of it, without calls and results. `tools`: the names of those that the client declares. `system`: its
 * instructions, or ''. `called`: the id of the last call in the history.
 */
export type ChatRequest = {
  model: string
  message: MessageContent | undefined
  results: CallAnswer[]
  tools: string[]
  history: Resent[]
  called: string | undefined
  system: string
  streams: boolean
  includesUsage: boolean
  conversation: string | undefined
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

/** Throws 400 with the field. Settings of the sampling belong to the agent and have no effect. */
export function chatRequestOf(body: Record<string, unknown>): ChatRequest {
  refuseFields(body, {
    functions: { accepts: isEmptyList, advice: 'declare tools' },
    ...Object.fromEntries(choiceMembers.map((name) => [name, toolChoice])),
    stream: isSwitch,
    n: { accepts: (value) => value === 1, advice: 'a message has one answer' },
    store: {
      accepts: (value) => value === true,
      advice: 'the log keeps every answer. Leave it out',
    },
    response_format: {
      accepts: (value) => isObject(value) && value.type === 'text',
      advice: 'an answer is plain text. Leave it out',
    },
    modalities: {
      accepts: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
      advice: 'an answer is plain text. Leave it out',
    },
  })
  const { model, messages, stream, stream_options: options, metadata } = body
  if (typeof model !== 'string') throw bad('model must be a text')
  if (!Array.isArray(messages)) throw bad('messages must be a list')
  const read = messages.map((message: unknown, at) => messageOf(message, `messages[${at}]`))
  const newest = read.at(-1)
  if (newest?.role !== 'user' && newest?.role !== 'tool')
    throw bad('the last of messages must have the role user or tool')
  const message =
    newest.role === 'tool'
      ? undefined
      : messageOfContent(newest.content, `messages[${messages.length - 1}].content`)
  const answered = newest.role === 'user' ? read.slice(0, -1) : read
  const lastOther = answered.findLastIndex((one) => one.role !== 'tool')
  const results = answered.slice(lastOther + 1).filter((one) => one.role === 'tool')
  const system = read.filter(({ role }) => role === 'system').map(({ text }) => text)
  const spoken = read.flatMap(({ role, text }): Resent[] =>
    role === 'user' || (role === 'assistant' && text !== '') ? [{ role, text }] : [],
  )
  const callIds = read.flatMap((one) => (one.role === 'assistant' ? one.callIds : []))
  const named = isObject(metadata) ? metadata.conversation_id : undefined
  return {
    model,
    message,
    results,
    system: system.join('\n\n'),
    history: message === undefined ? spoken : spoken.slice(0, -1),
    called: callIds.findLast((id) => typeof id === 'string'),
    tools: toolNames(body.tools, (tool) => isObject(tool.function) && tool.function.name),
    streams: stream === true,
    conversation: typeof named === 'string' ? named : undefined,
    includesUsage: isObject(options) && options.include_usage === true,
  }
}

function messageOf(message: unknown, where: string) {
  const sent = sentMessage(message)
  if (typeof sent === 'string') throw bad(where + sent)
  return { ...sent, text: textOfContent(sent.content, `${where}.content`) }
}

/** The messages of the user, each with the texts of the assistant after it. */
export function exchangesOf(history: readonly Resent[]): Exchange[] {
  const exchanges: Exchange[] = []
  for (const { role, text } of history) {
    const last = exchanges.at(-1)
    if (role === 'user') exchanges.push({ text })
    else if (last !== undefined)
      last.answer = last.answer === undefined ? text : `${last.answer}\n${text}`
  }
  return exchanges
}

/** The history as instructions, for a conversation that begins with it. Empty: there is none. */
export function transcriptOf(history: readonly Resent[]): string {
  if (history.length === 0) return ''
  const lines = history.map(({ role, text }) => `<${role}>\n${text}\n</${role}>`)
  return earlierMessages(lines.join('\n\n'))
}
