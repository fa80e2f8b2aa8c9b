// A response of Anthropic's Messages API from a list of blocks: the events of its stream. The scripted
// model and the demo's server send them, and the real SDK reads them.

import { blockEvents } from '../../shared/wire/anthropic/answer.ts'
import type { AnswerItem } from '../../shared/wire/exchange.ts'
import type { Json } from '../../shared/wire/format.ts'
import { printedEvents } from '../../shared/wire/printed-events.ts'

/** The received request. Only the fields that scripts read have types. */
export type ModelCall = {
  model?: string
  system?: string | { text: string }[]
  messages: { role: string; content: unknown }[]
  tools?: { name: string }[]
  tool_choice?: { type: string }
}

/** `pieceChars`: the length of the text in one event; default: 12 characters. */
export type Block =
  | { type: 'text'; text: string; pieceChars?: number }
  | { type: 'thinking'; thinking: string }
  | { type: 'tool_use'; id: string; name: string; input: string; pieceChars?: number }

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
export function* eventsOf(
  call: ModelCall,
  blocks: Block[],
  stopReason: string | undefined,
): Generator<Json> {
  const usage = {
    input_tokens: tokensOf([call.system, call.messages, call.tools]),
    output_tokens: tokensOf(blocks),
  }
  yield {
    type: 'message_start',
    message: {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'demo',
      content: [],
      stop_reason: null,
      usage: { ...usage, output_tokens: 0 },
    },
  }
  for (const [index, block] of blocks.entries()) {
    const pieceChars = 'pieceChars' in block ? block.pieceChars : undefined
    const events = blockEvents(itemOf(block), index, (text) => piecesOf(text, pieceChars))
    if (stopReason === undefined && index === blocks.length - 1) {
      yield* events.slice(0, -1)
      return
    }
    yield* events
  }
  if (stopReason === undefined) return
  yield {
    type: 'message_delta',
    delta: { stop_reason: stopReason },
    usage: { output_tokens: usage.output_tokens },
  }
  yield { type: 'message_stop' }
}

function itemOf(block: Block): AnswerItem {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text }
    case 'thinking':
      return { kind: 'vendor', vendor: { ...block, signature: 'signed' } }
    case 'tool_use': {
      const { id, name, input } = block
      return { kind: 'call', id, name, arguments: input }
    }
  }
}

function piecesOf(text: string, pieceChars = 12): string[] {
  return Array.from({ length: Math.ceil(text.length / pieceChars) }, (_, i) =>
    text.slice(i * pieceChars, (i + 1) * pieceChars),
  )
}

export function stopReasonOf(blocks: Block[]): string {
  return blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
}

/** One event in the form of server-sent events. */
export function sentEvent(event: Json): string {
  return printedEvents({ isNamed: true }, [event])
}
