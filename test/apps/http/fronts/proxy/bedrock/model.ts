// Answers of a model with Converse: whole, or as frames of AWS's event stream.

import { EventStreamCodec } from '@smithy/eventstream-codec'

type Json = Record<string, unknown>

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text),
)

export const isConverseStream = (url: string): boolean => url.endsWith('/converse-stream')

/** A frame as Bedrock sends it. `type`: `event` or `exception`. */
export function frameOf(name: string, payload: Json, type = 'event'): Buffer {
  const text = (value: string) => ({ type: 'string' as const, value })
  const headers = {
    [`:${type}-type`]: text(name),
    ':content-type': text('application/json'),
    ':message-type': text(type),
  }
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(payload)) }))
}

const usage = { inputTokens: 10, cacheReadInputTokens: 4, outputTokens: 5, totalTokens: 19 }

export const converseCall = (toolUseId: string, input: unknown) => ({
  toolUse: { toolUseId, name: 'exec', input },
})

/** `content`: blocks of Converse. Bedrock fills frames with a member `p`. */
export function conversePieces(content: Json[], isStreamed: boolean): Buffer[] {
  const stopReason = content.some(({ toolUse }) => toolUse) ? 'tool_use' : 'end_turn'
  const metrics = { latencyMs: 7 }
  if (!isStreamed) {
    const output = { message: { role: 'assistant', content } }
    return [Buffer.from(JSON.stringify({ output, stopReason, usage, metrics }))]
  }
  const blocks = content.flatMap((block, contentBlockIndex) => [
    ...eventsOf(block).map(([name, payload]) =>
      frameOf(name, { ...payload, contentBlockIndex, p: 'abcd' }),
    ),
    frameOf('contentBlockStop', { contentBlockIndex, p: 'ab' }),
  ])
  return [
    frameOf('messageStart', { role: 'assistant', p: 'abc' }),
    ...blocks,
    frameOf('messageStop', { stopReason }),
    frameOf('metadata', { usage, metrics }),
  ]
}

function eventsOf({ text, toolUse, reasoningContent }: Json): [string, Json][] {
  const delta = (value: Json): [string, Json] => ['contentBlockDelta', { delta: value }]
  if (toolUse !== undefined) {
    const { input, ...start } = toolUse as Json
    const json = JSON.stringify(input)
    return [
      ['contentBlockStart', { start: { toolUse: start } }],
      delta({ toolUse: { input: json.slice(0, 3) } }),
      delta({ toolUse: { input: json.slice(3) } }),
    ]
  }
  if (reasoningContent !== undefined) {
    const { reasoningText } = reasoningContent as { reasoningText: Json }
    return [
      delta({ reasoningContent: { text: reasoningText.text } }),
      delta({ reasoningContent: { signature: reasoningText.signature } }),
    ]
  }
  return [delta({ text })]
}
