// The answers of Claude through InvokeModel: those of Messages, and a stream of frames with a chunk each.
// Members of AWS, such as counts and the state of a guardrail, are dropped. No client gets them.

import { messageEvents } from '../anthropic/answer.ts'
import { anthropicModel } from '../anthropic/model.ts'
import { bedrockError, framedAnswers } from '../bedrock/framed-answers.ts'
import { frame, framesWith } from '../bedrock/frames.ts'
import type { AnswerParts, Json } from '../format.ts'
import { fault } from '../strict/strict.ts'
import { strictObject } from '../strict/strict-json.ts'

const framing = framesWith(
  () => ({
    take(type, payload) {
      if (type === 'error') return [{ type, error: payload }]
      return type === 'chunk' ? [eventIn(payload)] : []
    },
    end: () => [],
  }),
  (event) => [chunk(event)],
)

function eventIn({ bytes }: Json): Json {
  if (typeof bytes !== 'string') throw fault('a chunk of it has no bytes')
  const event = Buffer.from(bytes, 'base64')
  if (event.toString('base64') !== bytes) throw fault('a chunk of it is no base64')
  return ofVendor(strictObject(event.toString('utf8')))
}

function ofVendor(message: Json): Json {
  return Object.fromEntries(
    Object.entries(message).filter(([name]) => !name.startsWith('amazon-bedrock-')),
  )
}

/** A frame with an event of Messages. */
function chunk(event: Json): Uint8Array {
  return frame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') })
}

export const bedrockInvokeModel = {
  answer: { ...anthropicModel.answer, reader: framedAnswers(framing, ofVendor) },
  stream: { framing, events: messageEvents },
  strict: {
    ...anthropicModel.strict,
    ping: chunk({ type: 'ping' }),
    whole: (body) => anthropicModel.strict.whole(ofVendor(body)),
    error: bedrockError,
  },
} satisfies AnswerParts
