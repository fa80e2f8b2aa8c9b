// The sessions of Cline: one JSON object with all messages, in the blocks of Anthropic. An agent inside a
// session has a file in its folder.

import { isHostText } from '../../hosts/hosts.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { jsonTextOf, objectAt, textOr } from '../../transcript/json-fields.ts'
import { endedPiece, leftOut, modelPiece } from '../../transcript/pieces.ts'
import { recordedMessages, timeOf } from '../../transcript/recorded-messages.ts'
import type { Piece } from '../../transcript/transcript.ts'
import { piecesOfMessage as piecesOfBlocks } from '../anthropic/history.ts'
import type { Json, SessionProgram } from '../format.ts'
import { countOf, usageWithCache } from '../token-count.ts'

export const cline = {
  name: 'cline',
  session: {
    messages: recordedMessages({
      name: 'cline',
      list: 'messages',
      title: 'Cline',
      item: piecesOfMessage,
    }),
    joined: ([session]) => {
      if (session === undefined || !Array.isArray(session.messages)) return undefined
      const { sessionId, agent } = session
      if (typeof sessionId !== 'string' || typeof agent !== 'string') return undefined
      return { ...session, sessionId: sessionId.replace('__', '/') } // a sub-agent: its session, its id
    },
    place: ({ system_prompt: prompt }) => /Working Directory: (\/.*)/.exec(textOr(prompt))?.[1],
    stored: {
      home: '.cline',
      variable: 'CLINE_DIR',
      inside: 'data/sessions',
      file: /^[^/]+\/[^/]+\.messages\.json$/,
      depth: 1,
    },
  },
} satisfies SessionProgram<'cline'>

function piecesOfMessage(value: unknown, where: string): Piece[] {
  const { id, role, content, ts, metadata, modelInfo, metrics } = objectAt(value, where)
  if (isObject(metadata) && metadata.kind === 'compaction_summary')
    return leftOut('a summary that the runtime asked for', where)
  const blocks = Array.isArray(content) ? content.map(asSent) : content
  const pieces = piecesOfBlocks({ id, role, content: blocks }, where)
  if (role === 'user') return pieces.map((piece) => ofUser(piece, ts))
  const { id: name, provider } = isObject(modelInfo) ? modelInfo : {}
  return [
    ...(typeof name === 'string' ? [modelPiece(name, textOr(provider))] : []),
    ...pieces,
    endedPiece(metrics, usageOf, ''),
  ]
}

/** A result has an entry for each command or file, and the model gets their JSON. */
function asSent(block: unknown): unknown {
  if (!isObject(block) || block.type !== 'tool_result') return block
  const { content, is_error: isError } = block
  const entries = Array.isArray(content) ? content.filter(isObject) : []
  const hasFailed = entries.length > 0 && entries.every(({ success }) => success === false)
  const isPlain = entries.every(({ success }) => success === undefined)
  return {
    ...block,
    is_error: isError === true || hasFailed,
    ...(!isPlain && { content: jsonTextOf(content) }),
  }
}

function ofUser(piece: Piece, ts: unknown): Piece {
  if (piece.kind === 'result') return { ...piece, ...timeOf(ts) }
  if (piece.kind !== 'user') return piece
  const text = piece.text.replace(/^<user_input\b[^>]*>([\s\S]*)<\/user_input>$/, '$1')
  return { ...piece, text, isOfHost: isHostText('cline', text) }
}

function usageOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Json) {
  const [read, write] = [countOf(cacheReadTokens), countOf(cacheWriteTokens)]
  return usageWithCache(countOf(inputTokens), countOf(outputTokens), read, write)
}
