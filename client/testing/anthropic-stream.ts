// A response of Anthropic's Messages API from a list of blocks: the events of its stream. The scripted
// model and the demo's server send them, and the real SDK reads them.

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

export type ServerEvent = { type: string; [key: string]: unknown }

/**
 * The events of a response. `stopReason`: undefined: the response ends in the middle, without the
 * end of its last block.
 */
export function* eventsOf(
  call: ModelCall,
  blocks: Block[],
  stopReason: string | undefined,
): Generator<ServerEvent> {
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
    yield* blockEvents(index, block)
    if (stopReason === undefined && index === blocks.length - 1) return
    yield { type: 'content_block_stop', index }
  }
  if (stopReason === undefined) return
  yield {
    type: 'message_delta',
    delta: { stop_reason: stopReason },
    usage: { output_tokens: usage.output_tokens },
  }
  yield { type: 'message_stop' }
}

function* blockEvents(index: number, block: Block): Generator<ServerEvent> {
  switch (block.type) {
    case 'text':
      yield { type: 'content_block_start', index, content_block: { type: 'text', text: '' } }
      for (const text of piecesOf(block.text, block.pieceChars))
        yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
      break
    case 'thinking':
      yield {
        type: 'content_block_start',
        index,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }
      for (const thinking of piecesOf(block.thinking))
        yield { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } }
      yield {
        type: 'content_block_delta',
        index,
        delta: { type: 'signature_delta', signature: 'signed' },
      }
      break
    case 'tool_use':
      yield {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: block.id, name: block.name, input: {} },
      }
      for (const partial_json of piecesOf(block.input, block.pieceChars))
        yield {
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json },
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
export function sentEvent(event: ServerEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
