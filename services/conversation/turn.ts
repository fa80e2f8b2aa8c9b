// A turn: the message's admission, the state while open, and the records that open the turn and
// request a round. A message that cannot open a turn would fail each time in the same way, so the
// client gets the reason at once (R6, R8). Caps above the hard ceilings are no reason: they are lowered
// (allowance.ts). The queue and the ids that reveal a repeat by a client are bounded (R7).
//
// Neither the state nor the records of a round grow with the turn or the
// conversation. The texts are in the history.
// A client reads exactly one turn-finished for each accepted message, also
// after its removal from the queue.
// A refused id is not remembered, so a client can send it again. Each refusal
// has its own turn-finished.

import { toolRef } from '../../shared/agents/agents.ts'
import { compiledSchema } from '../../shared/contract/arguments/compiled-schema.ts'
import { contentsFault } from '../../shared/contract/call/contents.ts'
import { conversationIdFault, type MessageId, messageIdFault } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AgentSettings,
  Cap,
  Declaration,
  QueuedMessage,
  UserMessage,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { isGuest } from '../../shared/contract/topology.ts'
import { settingsFault } from '../../shared/contract/turn/settings-fault.ts'
import { slowestTimeout } from '../../shared/contract/turn/tool-deadline.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'
import { type Allowance, expiresAt, newAllowance, withRound } from '../turn/allowance.ts'
import { roundStarted, userEntry } from '../turn/endings.ts'
import type { Outstanding, Place } from '../turn/unit.ts'

/** Bytes of the names of rules in shadow, which every round carries. */
const shadowedBytesMax = 4 * 1024

export type Turn = {
  /** The offset of the record that opened it. */
  turn: number
  /** The message without its text, which is in the history. */
  message: Omit<QueuedMessage, 'text'>
  allowance: Allowance
  requested: RequestedRound
  /** Rounds that were requested because a reply did not fit its schema. */
  outputRetries: number
}

/** The round whose outcome is awaited. */
export type RequestedRound = {
  callsLeft: number
  nudge: string | null
  textOnly: TextOnly | null
}

/** The reason why a round can call no tool: a cap is reached, the detector requires it, or both. */
export type TextOnly = { cap: Cap | null; reason: string }

/** A new turn, its user's message in the history, and its first request. */
export function openTurn(
  place: Place,
  { text, ...message }: QueuedMessage,
): { turn: Turn; records: Output[] } {
  const { conversation, offset, time } = place
  const { contents, afterTurn, policy } = message.settings
  const allowance = withRound(newAllowance(policy.caps, time))
  const requested = { callsLeft: allowance.caps.calls, nudge: null, textOnly: null }
  const turn: Turn = { turn: offset, message, allowance, requested, outputRetries: 0 }
  const { messageId, agent } = message
  const records: Output[] = [
    userEntry({ conversation, turn: offset }, text, { contents, afterTurn, redact: policy.redact }),
    requestOf(conversation, turn),
    {
      to: 'activity',
      message: {
        type: 'turn-started',
        conversation,
        turn: offset,
        messageId,
        agent,
        parent: policy.parent,
      },
    },
    startOf(conversation, turn),
  ]
  return { turn, records }
}

export function requestNext(
  { conversation }: Place,
  { allowance, ...turn }: Turn,
  requested: RequestedRound,
): { turn: Turn; records: Output[] } {
  const next: Turn = { ...turn, allowance: withRound(allowance), requested }
  return { turn: next, records: [requestOf(conversation, next), startOf(conversation, next)] }
}

export function outstandingOf({ turn, allowance, requested: { nudge } }: Turn): Outstanding {
  return { turn, round: allowance.used.rounds, nudge, expiresAt: expiresAt(allowance) }
}

function requestOf(conversation: Place['conversation'], turn: Turn): Output {
  const { agent, tools, settings } = turn.message
  const { callsLeft, nudge } = turn.requested
  const { round, expiresAt } = outstandingOf(turn)
  return {
    to: 'model',
    message: {
      type: 'model-request',
      conversation,
      turn: turn.turn,
      round,
      historyRound: round - 1,
      nudge,
      callsLeft,
      agent,
      tools,
      settings,
      expiresAt,
    },
  }
}

function startOf(conversation: Place['conversation'], turn: Turn): Output {
  const { caps } = turn.allowance
  return roundStarted({ conversation, ...outstandingOf(turn) }, { ...turn.requested, caps })
}

/** The reason to refuse the message. Undefined: none. */
export function refusalOf(message: UserMessage): string | undefined {
  return (
    idRefusal(message) ??
    sizeRefusal(message) ??
    blankRefusal(message) ??
    settingsFault(message.settings) ??
    contentsFault('the message', message.settings.contents) ??
    outputRefusal(message.settings)
  )
}

function idRefusal({ conversation, messageId }: UserMessage): string | undefined {
  if (isGuest(conversation)) return reasons.guestId
  return conversationIdFault(conversation) ?? messageIdFault(messageId)
}

function sizeRefusal({ text, agent, declarations, settings }: UserMessage): string | undefined {
  const textBytes = Buffer.byteLength(text)
  if (textBytes > limits.userMessageBytesMax) return reasons.textSize(textBytes)
  const declarationsBytes = declarations.reduce((sum, one) => sum + declarationBytes(one), 0)
  if (declarationsBytes > limits.agentDeclarationsBytesMax)
    return reasons.declarationsSize(declarationsBytes)
  const rules = settings.policy.shadowed.map((rule) => `${rule} `).join('')
  const bounds = [
    ['agent', agent, limits.agentNameBytesMax],
    ['settings.fallback', settings.fallback, limits.fallbackBytesMax],
    ['settings.context', settings.context, limits.recordedContextBytesMax],
    ['settings.system', settings.system, limits.questionSystemBytesMax],
    ['settings.output', settings.output, limits.schemaBytesMax],
    ['settings.policy.shadowed', rules, shadowedBytesMax],
  ] as const
  for (const [name, value, max] of bounds) {
    const bytes = Buffer.byteLength(value ?? '')
    if (bytes > max) return reasons.settingSize(name, bytes, max)
  }
  return undefined
}

/** Bytes of a declaration and of its reference in each request. */
function declarationBytes({ name, description, schema }: Declaration): number {
  return 100 + Buffer.byteLength(name) + Buffer.byteLength(description) + Buffer.byteLength(schema)
}

/** Without a fallback, a turn that ends without an answer would give the user nothing (I3). */
function blankRefusal({ agent, settings }: UserMessage): string | undefined {
  if (agent.trim() === '') return reasons.blank('agent')
  if (settings.fallback.trim() === '') return reasons.blank('settings.fallback')
  return undefined
}

/** No reply could fit a schema that cannot be read. */
function outputRefusal({ output }: AgentSettings): string | undefined {
  const compiled = output === null ? undefined : compiledSchema(output)
  return compiled?.kind === 'unusable' ? reasons.unusableOutput(compiled.reason) : undefined
}

/**
 * The part of a message that its turn needs: tools by reference, and the timeout of the slowest
 * one.
 */
export function queuedOf({
  messageId,
  text,
  agent,
  settings,
  declarations,
}: UserMessage): QueuedMessage {
  return {
    messageId,
    text,
    agent,
    settings,
    tools: declarations.map(toolRef),
    toolTimeoutMsMax: slowestTimeout(declarations),
  }
}

/** The reason why no further message can wait. Undefined: it can. */
export function queueRefusalOf(queue: QueuedMessage[], further: QueuedMessage): string | undefined {
  if (queue.length >= limits.queueMessagesMax) return reasons.queueFull
  const bytes = queue.reduce((sum, queued) => sum + bytesOf(queued), bytesOf(further))
  return bytes > limits.queueBytesMax ? reasons.queueHeavy : undefined
}

/** The size as JSON, which is never below the size of the record. */
function bytesOf(queued: QueuedMessage): number {
  return Buffer.byteLength(JSON.stringify(queued))
}

/** The ids with one more, oldest first. The oldest ones are forgotten. */
export function withId(recentMessageIds: string[], messageId: MessageId): string[] {
  return [...recentMessageIds, messageId].slice(-limits.recentMessageIdsMax)
}
