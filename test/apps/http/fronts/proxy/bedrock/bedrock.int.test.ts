// Converse behind the proxy, with AWS's SDK as the client: frames in the place of events, reasoning with
// signatures, requests with signatures, and the errors of the SDK.

import type { ServerResponse } from 'node:http'
import type { Message, Tool } from '@aws-sdk/client-bedrock-runtime'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { refuseSigned } from '../../../../../../apps/http/fronts/proxy/aws/signed-requests.ts'
import { type Fronts, openFronts } from '../../../../../../client/guard/log/fronts.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { type Proxied, proxied } from '../proxied.ts'
import { type Received, sendJson } from '../scripted-upstream.ts'
import { bedrockClient, callsIn, modelId, resultsOf, textIn } from './client.ts'
import { converseCall, conversePieces, frameOf, isConverseStream } from './model.ts'

type Json = Record<string, unknown>

let proxy: Proxied | undefined
let fronts: Fronts | undefined

afterEach(async () => {
  await proxy?.close()
  await fronts?.close()
  fronts = undefined
})

const schema = { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] }
const tools: Tool[] = [{ toolSpec: { name: 'exec', inputSchema: { json: schema } } }]
const toolConfig = { tools }
const question: Message = { role: 'user', content: [{ text: 'List the files.' }] }
const thought = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig/1+==' } } }
const veto = { coversSubscriptions: false }
const forms = [
  ['whole', false],
  ['streamed', true],
] as const

function respondWith(...answers: Json[][]) {
  return ({ url }: Received, response: ServerResponse, n: number): void => {
    const isStreamed = isConverseStream(url)
    const type = isStreamed ? 'application/vnd.amazon.eventstream' : 'application/json'
    response.writeHead(200, { 'content-type': type })
    const content = answers[Math.min(n, answers.length) - 1] ?? []
    for (const piece of conversePieces(content, isStreamed)) response.write(piece)
    response.end()
  }
}

/** A model that answers with these blocks in turn, before the real stages. */
async function opened(mode: typeof veto | undefined, ...answers: Json[][]): Promise<Proxied> {
  fronts = await openFronts({ kind: 'memory' }, { log: pino({ level: 'silent' }) })
  const guard = fronts.front({ agent: 'main', mode: mode === undefined ? 'observing' : 'blocking' })
  proxy = await proxied(guard, respondWith(...answers), '', mode)
  return proxy
}

const bodyOf = (received: Received | undefined) =>
  JSON.parse(received?.body.toString() ?? '{}') as { messages: Json[] }

describe('Converse under the veto', () => {
  it.each(forms)(
    'hides a denied answer, and keeps its signatures for the model (%s)',
    async (_, isStreamed) => {
      const denied = [
        thought,
        { text: 'Hm. ' },
        converseCall('c1', {}),
        converseCall('c2', { cmd: 'ls' }),
      ]
      const { url, received } = await opened(veto, denied, [converseCall('c3', { cmd: 'pwd' })])
      const client = bedrockClient(url)
      const { content, usage } = await client({ messages: [question], toolConfig }, { isStreamed })
      expect(callsIn(content)).toMatchObject([
        { toolUseId: 'c3', name: 'exec', input: { cmd: 'pwd' } },
      ])
      expect(usage).toEqual({ input: 28, output: 10 })
      const { messages } = bodyOf(received[1])
      expect(messages).toHaveLength(3)
      expect(messages[1]).toEqual({ role: 'assistant', content: denied })
      expect(messages[2]).toMatchObject({
        role: 'user',
        content: [
          {
            toolResult: {
              toolUseId: 'c1',
              status: 'error',
              content: [{ text: expect.stringContaining('cmd') }],
            },
          },
          { toolResult: { toolUseId: 'c2', status: 'error' } },
        ],
      })
      expect(received.map((one) => one.url)).toEqual([received[0]?.url, received[0]?.url])
      expect(decodeURIComponent(received[0]?.url ?? '')).toContain(`/model/${modelId}/converse`)
    },
  )

  it.each(forms)(
    'passes texts, thoughts and allowed calls as the model gave them (%s)',
    async (_, isStreamed) => {
      const given = [thought, { text: 'Look: é\u2028.' }, converseCall('c1', { cmd: 'ls', n: 2 })]
      const { url } = await opened(veto, given)
      const answer = await bedrockClient(url)({ messages: [question], toolConfig }, { isStreamed })
      expect(answer).toEqual({ content: given, usage: { input: 14, output: 5 } })
    },
  )

  it.each(forms)(
    'judges the requests of the SDK over HTTP/2, its default (%s)',
    async (_, isStreamed) => {
      const { url, received } = await opened(
        veto,
        [converseCall('c1', {})],
        [thought, converseCall('c2', { cmd: 'ls' })],
      )
      const { content } = await bedrockClient(
        url,
        {},
        {},
      )({ messages: [question], toolConfig }, { isStreamed })
      expect(content).toEqual([thought, converseCall('c2', { cmd: 'ls' })])
      expect(received).toHaveLength(2)
    },
  )

  it.each(forms)(
    'ends a run without progress with a text for the user (%s)',
    async (_, isStreamed) => {
      const { url, received } = await opened(veto, [converseCall('c1', {})])
      const client = bedrockClient(url)
      const { content } = await client({ messages: [question], toolConfig }, { isStreamed })
      expect(callsIn(content)).toEqual([])
      expect(textIn(content)).toContain('The last refusal: exec')
      expect(received).toHaveLength(4)
    },
  )

  it('shows an exception of a stream to the SDK', async () => {
    proxy = await proxied(
      scriptedGuard(),
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
        response.write(frameOf('messageStart', { role: 'assistant' }))
        response.end(frameOf('throttlingException', { message: 'Slow down.' }, 'exception'))
      },
      '',
      veto,
    )
    const asked = bedrockClient(proxy.url)({ messages: [question] }, { isStreamed: true })
    await expect(asked).rejects.toMatchObject({
      name: 'ThrottlingException',
      message: 'Slow down.',
    })
  })

  it('shows an error of AWS, and an error of Weir, to the SDK', async () => {
    const { url, received } = await opened(veto, [{ text: 'x' }])
    const client = bedrockClient(url, { 'x-weir-conversation': 'c' })
    const messages = [{ role: 'nobody', content: [] }] as unknown as Message[]
    await expect(client({ messages, toolConfig }, { isStreamed: false })).rejects.toThrow('nobody')
    expect(received).toEqual([])
    await proxy?.close()
    proxy = await proxied(
      scriptedGuard(),
      (_, response) => {
        response.setHeader('x-amzn-errortype', 'ValidationException:http://x')
        sendJson(response, { message: 'The model id is invalid.' }, 400)
      },
      '',
      veto,
    )
    const asked = bedrockClient(proxy.url)({ messages: [question] }, { isStreamed: true })
    await expect(asked).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'The model id is invalid.',
    })
  })
})

describe('Converse without a veto', () => {
  it.each(forms)(
    'gets advice, and ends an agent that makes no progress (%s)',
    async (_, isStreamed) => {
      const { url, received } = await opened(undefined, [converseCall('c1', {})])
      const client = bedrockClient(url, { 'x-weir-conversation': 'run' })
      const messages: Message[] = [question]
      let reply = ''
      for (let n = 0; n < 25 && reply === ''; n += 1) {
        const { content } = await client({ messages, toolConfig }, { isStreamed })
        if (callsIn(content).length === 0) reply = textIn(content)
        messages.push({ role: 'assistant', content })
        messages.push({ role: 'user', content: resultsOf(content, 'Error: exec needs cmd') })
        await proxy?.settled()
      }
      expect(reply).toContain('I could not')
      expect(received.length).toBeLessThan(12)
      const advised = received.map(bodyOf).find(({ messages: sent }) => {
        const { content } = sent.at(-1) as { content: Json[] }
        return content.some(({ text }) => typeof text === 'string' && text !== 'List the files.')
      })
      expect(advised?.messages.at(-1)).toMatchObject({ role: 'user' })
    },
  )
})

describe('a request with a signature of AWS', () => {
  const authorization =
    'AWS4-HMAC-SHA256 Credential=AKID/20260102/us-east-1/bedrock/aws4_request, Signature=x'
  const aws = 'https://bedrock-runtime.us-east-1.amazonaws.com'

  it('passes to a server that is not of AWS, and so does an API key to AWS', () => {
    refuseSigned({ authorization }, 'https://gateway.example/amazonaws.com')
    refuseSigned({ authorization: 'Bearer key' }, aws)
  })
})
