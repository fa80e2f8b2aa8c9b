// Scripts for the model behind test/support/pipeline.ts.

import type { Block, ModelCall, Reply } from '../../services/cli/demo/anthropic-server.ts'

let ids = 0

/** A call; `input` as an object, or as the raw text that is streamed. */
export function call(name: string, input: object | string): Block {
  ids += 1
  return { type: 'tool_use', id: `toolu_${ids}`, name, input: typeof input === 'string' ? input : JSON.stringify(input) }
}

export const text = (content: string): Block => ({ type: 'text', text: content })
export const thinking = (content: string): Block => ({ type: 'thinking', thinking: content })

export function says(...blocks: Block[]): Reply {
  return { kind: 'message', blocks }
}

/** Answers the requests in turn; after the last one it says so in text. */
export function script(...replies: (Reply | ((call: ModelCall) => Reply))[]): (call: ModelCall, number: number) => Reply {
  return (model, number) => {
    const reply = replies[number - 1]
    return typeof reply === 'function' ? reply(model) : (reply ?? says(text('The script is over.')))
  }
}

/** The same for every request in which the model may call a tool; text where it may not. */
export function always(reply: () => Reply): (call: ModelCall) => Reply {
  return (model) => (model.tool_choice?.type === 'none' ? says(text('I have no tools, so I answer.')) : reply())
}

/** All system texts of a request. */
export function systemOf(model: ModelCall | undefined): string {
  const system = model?.system ?? ''
  return typeof system === 'string' ? system : system.map((block) => block.text).join('\n\n')
}

/** The texts of all tool results of a request, oldest first. */
export function resultsOf(model: ModelCall | undefined): string[] {
  return (model?.messages ?? []).flatMap(({ content }) =>
    (Array.isArray(content) ? content : []).flatMap((block: { type: string; content?: unknown }) =>
      block.type === 'tool_result'
        ? [typeof block.content === 'string' ? block.content : ((block.content as { text: string }[])[0]?.text ?? '')]
        : [],
    ),
  )
}
