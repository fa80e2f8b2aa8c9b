// Amazon Bedrock's InvokeModel and InvokeModelWithResponseStream for Claude: the body is a request of
// Messages, and a frame of the stream holds an event of Messages. Claude Code uses both.
// The body names a version of Messages. Other models have bodies of their vendors, and their
// requests are not judged.

import { anthropic } from '../anthropic/format.ts'
import { modelIn } from '../bedrock/format.ts'
import type { LikeFormat } from '../format.ts'

export const bedrockInvoke: LikeFormat = {
  name: 'bedrock-invoke',
  like: { format: 'anthropic', body: (body) => body },
  request: {
    ...anthropic.request,
    title: 'Bedrock (/invoke, /invoke-with-response-stream) for Claude',
    routes: [
      { end: '/invoke', inside: '/model/', streams: false },
      { end: '/invoke-with-response-stream', inside: '/model/', streams: true },
    ],
    withoutCalls: [],
    model: modelIn,
    elsewhere: ({ anthropic_version: version }) =>
      typeof version === 'string' ? undefined : 'Bedrock',
    unreadable:
      'the body of this request has no anthropic_version, and Weir judges InvokeModel for Claude only: use Converse for other models',
  },
  model: async () => (await import('./model.ts')).bedrockInvokeModel,
}
