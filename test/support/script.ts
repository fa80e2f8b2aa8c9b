// Scripts for the model after test/support/pipeline.ts.

import type { Reply } from '../../apps/demo/anthropic-server.ts'
import type { Block, ModelCall } from '../../client/testing/anthropic-stream.ts'
import { thoughtItem } from '../../shared/wire/anthropic/answer.ts'

let ids = 0

/** A call; `input` as an object, or as the raw text that is streamed. */
export function call(name: string, input: object | string): Block {
  ids += 1
  return {
    kind: 'call',
    id: `toolu_${ids}`,
    name,
    arguments: typeof input === 'string' ? input : JSON.stringify(input),
  }
}

export const text = (content: string): Extract<Block, { kind: 'text' }> => ({
  kind: 'text',
  text: content,
})
/** This many characters of text that does not repeat itself. */
export const longText = (chars: number): string =>
  Array.from({ length: Math.ceil(chars / 8) }, (_, n) => `${n}`.padStart(8, '.'))
    .join('')
    .slice(0, chars)
export const thinking = thoughtItem

export function says(...blocks: Block[]): Reply {
  return { kind: 'message', blocks }
}

/** Answers the requests in turn. After the last reply it answers with a text. */
export function script(
  ...replies: (Reply | ((call: ModelCall) => Reply))[]
): (call: ModelCall, number: number) => Reply {
  return (model, number) => {
    const reply = replies[number - 1]
    return typeof reply === 'function' ? reply(model) : (reply ?? says(text('The script is over.')))
  }
}

/** The same reply to every request with tools, and a text to requests without. */
export function always(reply: () => Reply): (call: ModelCall) => Reply {
  return (model) =>
    model.tool_choice?.type === 'none' ? says(text('I have no tools, so I answer.')) : reply()
}

/** All system texts of a request. */
export function systemOf(model: ModelCall | undefined): string {
  const system = model?.system ?? ''
  return typeof system === 'string' ? system : system.map((block) => block.text).join('\n\n')
}

/** The texts of all blocks of text of a request, the user's and the model's, oldest first. */
export function textsOf(model: ModelCall | undefined): string[] {
  return (model?.messages ?? []).flatMap(({ content }) =>
    (Array.isArray(content) ? content : []).flatMap((block: { type: string; text?: string }) =>
      block.type === 'text' ? [block.text ?? ''] : [],
    ),
  )
}

/** The texts of all tool results of a request, oldest first. */
export function resultsOf(model: ModelCall | undefined): string[] {
  return (model?.messages ?? []).flatMap(({ content }) =>
    (Array.isArray(content) ? content : []).flatMap((block: { type: string; content?: unknown }) =>
      block.type === 'tool_result'
        ? [
            typeof block.content === 'string'
              ? block.content
              : ((block.content as { text: string }[])[0]?.text ?? ''),
          ]
        : [],
    ),
  )
}

/** A response with handwritten events, which a well-behaved server would never send. */
export function stream(...events: { type: string; [key: string]: unknown }[]): Reply {
  return {
    kind: 'bytes',
    bytes: events
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  }
}

/** An answer with one call whose arguments come in one piece, for long arguments. */
export function saysAtOnce(name: string, input: string): Reply {
  ids += 1
  return stream(
    {
      type: 'message_start',
      message: { id: 'msg', type: 'message', role: 'assistant', content: [], usage: {} },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: `toolu_${ids}`, name, input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: input },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  )
}
