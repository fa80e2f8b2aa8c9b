// A response of Anthropic's Messages API from a list of blocks: the events of its stream. The scripted
// model and the demo's server send them, and the real SDK reads them.

import { noUsage } from '../../shared/contract/turn/no-usage.ts'
import { finishOf, messageEvents } from '../../shared/wire/anthropic/answer.ts'
import type { AnswerItem } from '../../shared/wire/exchange.ts'
import type { Json } from '../../shared/wire/format.ts'
import { printedEvents } from '../../shared/wire/framing/printed-events.ts'

/** The received request. Only the fields that scripts read have types. */
export type ModelCall = {
  model?: string
  system?: string | { text: string }[]
  messages: { role: string; content: unknown }[]
  tools?: { name: string }[]
  tool_choice?: { type: string }
}

/** `pieceChars`: the length of the text in one event; default: 12 characters. */
export type Block = AnswerItem & { pieceChars?: number }

/**
 * The token count of scripted responses: four characters each. Real providers count differently, but it
 * suffices to compare two runs.
 */
export function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value ?? '').length / 4)
}

/**
 * The events of a response. `stopReason`: undefined: the response ends in the middle, without the
 * end of its last block.
 */
export function eventsOf(
  call: ModelCall,
  blocks: readonly Block[],
  stopReason: string | undefined,
): Json[] {
  const isWhole = stopReason !== undefined
  const usage = {
    ...noUsage,
    inputTokens: tokensOf([call.system, call.messages, call.tools]),
    outputTokens: isWhole ? tokensOf(blocks) : 0,
  }
  const events = messageEvents(
    { id: 'msg', model: 'demo', items: blocks, stop: 'end', finish: stopReason ?? '', usage },
    piecesOf,
  )
  return isWhole ? events : events.slice(0, blocks.length === 0 ? -2 : -3)
}

function piecesOf(text: string, { pieceChars = 12 }: Block): string[] {
  return Array.from({ length: Math.ceil(text.length / pieceChars) }, (_, i) =>
    text.slice(i * pieceChars, (i + 1) * pieceChars),
  )
}

export function stopReasonOf(blocks: readonly Block[]): string {
  return finishOf[blocks.some(({ kind }) => kind === 'call') ? 'calls' : 'end']
}

/** One event in the form of server-sent events. */
export function sentEvent(event: Json): string {
  return printedEvents({ isNamed: true }, [event])
}
