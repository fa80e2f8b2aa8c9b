// The sessions of Claude Code: a line for each message of Anthropic, in an envelope, and other lines.

import { claudeCode as host } from '../../hosts/profiles.ts'
import { sentArguments } from '../../hosts/rewriting.ts'
import { isObject, jsonText } from '../../lib/json/json-object.ts'
import { objectAt } from '../../transcript/json-fields.ts'
import { modelPiece } from '../../transcript/pieces.ts'
import type { Piece } from '../../transcript/transcript.ts'
import { anthropicMessages } from '../anthropic/format.ts'
import { piecesOfMessage } from '../anthropic/history.ts'
import type { Json, SessionAgent, SessionProgram } from '../format.ts'

export const claudeCode = {
  name: 'claude-code',
  session: {
    messages: {
      ...anthropicMessages,
      file: { ...anthropicMessages.file, item: asSent },
    },
    message: ({ uuid, message }) =>
      typeof uuid === 'string' && isObject(message) && 'role' in message ? message : undefined,
    leftOut: ({ isMeta, isCompactSummary, isApiErrorMessage }) =>
      isMeta === true || isCompactSummary === true || isApiErrorMessage === true
        ? 'a message that the runtime wrote'
        : undefined,
    conversations: subAgents,
    time: 'timestamp',
    place: ({ cwd }) => (typeof cwd === 'string' ? cwd : undefined),
    stored: {
      home: '.claude',
      variable: 'CLAUDE_CONFIG_DIR',
      inside: 'projects',
      file: /\.jsonl$/,
    },
  },
} satisfies SessionProgram<'claude-code'>

/** Claude Code shows an object in place of arguments that are no JSON. */
function asSent(value: unknown, where: string): Piece[] {
  const { rewriting } = host
  const pieces = piecesOfMessage(value, where).map((piece) =>
    piece.kind === 'call' && rewriting !== undefined
      ? { ...piece, arguments: sentArguments(piece.arguments, rewriting) }
      : piece,
  )
  const { model } = objectAt(value, where)
  return typeof model === 'string' ? [modelPiece(model, 'anthropic'), ...pieces] : pieces
}

/** A line of a sub-agent names the line before it. Its first line names none. */
function subAgents(): (line: Json) => SessionAgent {
  const agents = new Map<string, string>()
  return ({ uuid, parentUuid, isSidechain }) => {
    if (isSidechain !== true || typeof uuid !== 'string') return {}
    const agent = agents.get(jsonText(parentUuid)) ?? uuid
    agents.set(uuid, agent)
    return { agent }
  }
}
