// The sessions of Copilot CLI: a line for each event. An agent inside a session writes its lines into the
// same file, with its id.

import { isObject } from '../../lib/json/json-object.ts'
import {
  argumentTextAt,
  jsonTextOf,
  listAt,
  objectAt,
  textAt,
  textOr,
} from '../../transcript/json-fields.ts'
import { callPiece, endedPiece, modelPiece } from '../../transcript/pieces.ts'
import { recordedMessages } from '../../transcript/recorded-messages.ts'
import { type Piece, responseWith } from '../../transcript/transcript.ts'
import type { Json, SessionAgent, SessionProgram } from '../format.ts'
import { countOf, usageWithCache } from '../token-count.ts'

const kinds = new Set(['user.message', 'assistant.message', 'tool.execution_complete'])

export const copilot = {
  name: 'copilot',
  session: {
    messages: recordedMessages({
      name: 'copilot',
      list: 'events',
      title: 'Copilot CLI',
      item: piecesOfEvent,
    }),
    message: (line) =>
      typeof line.type === 'string' && kinds.has(line.type) && isObject(line.data)
        ? line
        : undefined,
    leftOut: ({ type, data }) =>
      type === 'user.message' && isObject(data) && isOfHost(data)
        ? 'a message that the runtime wrote'
        : undefined,
    facts,
    conversations,
    time: 'timestamp',
    place: ({ type, data }) =>
      type === 'session.start' && isObject(data) && isObject(data.context)
        ? textOr(data.context.cwd)
        : undefined,
    stored: {
      home: '.copilot',
      variable: 'COPILOT_HOME',
      inside: 'session-state',
      file: /^[^/]+\/events\.jsonl$/,
      depth: 1,
    },
  },
} satisfies SessionProgram<'copilot'>

/** A user's message has no source. That of a sub-agent is its task, from the agent above. */
function isOfHost({ source }: Json): boolean {
  return typeof source === 'string' && source !== 'user' && !source.startsWith('agent-')
}

function conversations(): (line: Json) => SessionAgent {
  let session = ''
  return ({ type, data, agentId }) => {
    if (type === 'session.start' && isObject(data)) session = textOr(data.sessionId)
    const found = session === '' ? {} : { session }
    return typeof agentId === 'string' ? { ...found, agent: agentId } : found
  }
}

/** The tokens of a response stand in front of its message. */
function facts({ type, data }: Json): Piece[] {
  if (type !== 'session.usage_record' || !isObject(data) || !isObject(data.usage)) return []
  const { usage } = data
  const { apiCallId: id, interactionType: kind, model } = usage
  if (typeof id !== 'string' || !/^conversation-/.test(textOr(kind))) return [] // a title, a summary
  return [...modelIn(model), { kind: 'response', id }, endedPiece(usage, usageOf, '')]
}

function modelIn(name: unknown): Piece[] {
  return typeof name === 'string' ? [modelPiece(name)] : []
}

function usageOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Json) {
  const [read, write] = [countOf(cacheReadTokens), countOf(cacheWriteTokens)]
  return usageWithCache(countOf(inputTokens), countOf(outputTokens), read, write)
}

function piecesOfEvent(value: unknown, where: string): Piece[] {
  const { type, data: sent } = objectAt(value, where)
  const data = objectAt(sent, `${where}.data`)
  if (type === 'user.message')
    return [{ kind: 'user', text: textAt(data, 'content', `${where}.data`) }]
  if (type === 'tool.execution_complete') return [resultOf(data, `${where}.data`)]
  const { content, reasoningText, toolRequests = [], apiCallId, model } = data
  const calls = listAt(toolRequests, `${where}.data.toolRequests`).map((request, at) =>
    callOf(objectAt(request, `${where}.data.toolRequests[${at}]`), where),
  )
  const thinks = typeof reasoningText === 'string' && reasoningText !== ''
  const pieces: Piece[] = [
    ...(thinks ? [{ kind: 'reasoning' as const, block: reasoningText }] : []),
    { kind: 'text', text: textOr(content) },
    ...calls,
  ]
  const id = typeof apiCallId === 'string' ? apiCallId : undefined
  return [...modelIn(model), ...responseWith(pieces, id)]
}

function callOf({ toolCallId, name, arguments: sent }: Json, where: string): Piece {
  return callPiece(toolCallId, name, argumentTextAt(sent, `${where}.arguments`))
}

/** A shell command that fails is a call that succeeds. Its exit code tells the failure. */
function resultOf(data: Json, where: string): Piece {
  const { success, result, error, shellExecution } = data
  const output = isObject(result) ? result.content : result
  const failure = isObject(error) ? error.message : error
  const exitCode = isObject(shellExecution) ? shellExecution.exitCode : undefined
  return {
    kind: 'result',
    id: textAt(data, 'toolCallId', where),
    text: jsonTextOf(output ?? failure),
    isError: success === false || (typeof exitCode === 'number' && exitCode !== 0),
    where,
  }
}
