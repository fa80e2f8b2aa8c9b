// Claude through InvokeModel behind the proxy, with AWS's SDK as the client: the body of Messages, whole
// or as chunks in frames, and the requests of other models.

import type { ServerResponse } from 'node:http'
import {
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type Fronts, openFronts } from '../../../../../../client/guard/log/fronts.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { type Proxied, proxied } from '../proxied.ts'
import type { Received } from '../scripted-upstream.ts'
import { modelId, runtimeClient } from './client.ts'
import { frameOf } from './model.ts'

type Json = Record<string, unknown>

let proxy: Proxied | undefined
let fronts: Fronts | undefined

afterEach(async () => {
  await proxy?.close()
  await fronts?.close()
  fronts = undefined
})

const schema = { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] }
const version = { anthropic_version: 'bedrock-2023-05-31' }
const request = {
  ...version,
  max_tokens: 100,
  tools: [{ name: 'exec', input_schema: schema }],
  messages: [{ role: 'user', content: 'List the files.' }],
}
const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sig/1+==' }
const call = (id: string, input: Json) => ({ type: 'tool_use', id, name: 'exec', input })
const usage = { input_tokens: 10, output_tokens: 5 }
const veto = { coversSubscriptions: false }
const forms = [
  ['whole', false],
  ['streamed', true],
] as const

const chunk = (event: Json) =>
  frameOf('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcd' })

function chunksOf(content: Json[]): Buffer[] {
  const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  const message = { id: 'm1', type: 'message', role: 'assistant', model: 'm', usage }
  const blocks = content.flatMap((block, index) => {
    const { type, input, ...start } = block
    const piece = (delta: Json) => chunk({ type: 'content_block_delta', index, delta })
    const json = JSON.stringify(input)
    const [content_block, pieces] =
      type === 'tool_use'
        ? [{ type, ...start, input: {} }, [{ type: 'input_json_delta', partial_json: json }]]
        : type === 'thinking'
          ? [
              { type, thinking: '', signature: '' },
              [
                { type: 'thinking_delta', thinking: block.thinking },
                { type: 'signature_delta', signature: block.signature },
              ],
            ]
          : [{ type, text: '' }, [{ type: 'text_delta', text: block.text }]]
    return [
      chunk({ type: 'content_block_start', index, content_block }),
      ...pieces.map(piece),
      chunk({ type: 'content_block_stop', index }),
    ]
  })
  const counts = { inputTokenCount: 10, outputTokenCount: 5, invocationLatency: 1 }
  return [
    chunk({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }),
    ...blocks,
    chunk({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }),
    chunk({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': counts }),
  ]
}

function respondWith(...answers: Json[][]) {
  return ({ url }: Received, response: ServerResponse, n: number): void => {
    const content = answers[Math.min(n, answers.length) - 1] ?? []
    if (url.endsWith('/invoke-with-response-stream')) {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
      response.end(Buffer.concat(chunksOf(content)))
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
    const message = { id: 'm1', type: 'message', role: 'assistant', model: 'm', content, usage }
    const guardrail = { 'amazon-bedrock-guardrailAction': 'NONE' }
    response.end(JSON.stringify({ ...message, stop_reason, stop_sequence: null, ...guardrail }))
  }
}

/** A model that answers with these blocks in turn, before the real stages. */
async function opened(mode: typeof veto | undefined, ...answers: Json[][]): Promise<Proxied> {
  fronts = await openFronts({ kind: 'memory' }, { log: pino({ level: 'silent' }) })
  const guard = fronts.front({ agent: 'main', mode: mode === undefined ? 'observing' : 'blocking' })
  proxy = await proxied(guard, respondWith(...answers), '', mode)
  return proxy
}

/** The content of an answer, as the SDK hands its bytes to its caller. */
async function asked(url: string, body: Json, isStreamed: boolean): Promise<Json[]> {
  const client = runtimeClient(url, { 'x-weir-conversation': 'run' })
  const input = { modelId, body: JSON.stringify(body), contentType: 'application/json' }
  if (!isStreamed) {
    const { body: bytes } = await client.send(new InvokeModelCommand(input))
    return (JSON.parse(Buffer.from(bytes ?? []).toString()) as { content: Json[] }).content
  }
  const command = new InvokeModelWithResponseStreamCommand(input)
  const { body: events } = await client.send(command)
  const content: Json[] = []
  let isOver = false
  for await (const { chunk: sent } of events ?? []) {
    const event = JSON.parse(Buffer.from(sent?.bytes ?? []).toString()) as Json
    const { type, index, content_block: block, delta } = event as Record<string, Json>
    const at = Number(index)
    if (block !== undefined)
      content[at] = { ...block, ...(block.input !== undefined && { input: '' }) }
    for (const [name, piece] of Object.entries(index === undefined ? {} : (delta ?? {}))) {
      const member = name === 'partial_json' ? 'input' : name
      if (name !== 'type')
        content[at] = { ...content[at], [member]: `${content[at]?.[member]}${piece}` }
    }
    isOver ||= `${type}` === 'message_stop'
  }
  if (!isOver) throw new Error('the answer was cut')
  return content.map((block) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(`${block.input || '{}'}`) } : block,
  )
}

const callsOf = (content: Json[]) => content.filter(({ type }) => type === 'tool_use')
const bodyOf = (received: Received | undefined) =>
  JSON.parse(received?.body.toString() ?? '{}') as Json & { messages: Json[] }

describe('Claude through InvokeModel under the veto', () => {
  it.each(forms)(
    'hides a denied answer, and keeps its signatures for the model (%s)',
    async (_, isStreamed) => {
      const denied = [thought, { type: 'text', text: 'Hm. ' }, call('c1', {})]
      const { url, received } = await opened(veto, denied, [call('c2', { cmd: 'pwd' })])
      expect(callsOf(await asked(url, request, isStreamed))).toEqual([call('c2', { cmd: 'pwd' })])
      const { messages, ...others } = bodyOf(received[1])
      expect(others).toMatchObject(version)
      expect(messages[1]).toEqual({ role: 'assistant', content: denied })
      expect(messages[2]).toMatchObject({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', is_error: true }],
      })
      expect(received.map((one) => one.url)).toEqual([received[0]?.url, received[0]?.url])
    },
  )

  it.each(forms)(
    'passes texts, thoughts and allowed calls as the model gave them (%s)',
    async (_, isStreamed) => {
      const given = [thought, { type: 'text', text: 'Look: é\u2028.' }, call('c1', { cmd: 'ls' })]
      const { url } = await opened(veto, given)
      expect(await asked(url, request, isStreamed)).toEqual(given)
    },
  )

  it.each([
    [
      'an unknown event',
      frameOf('chunk', { bytes: Buffer.from('{"type":"x","index":0}').toString('base64') }),
    ],
    ['a chunk without bytes', frameOf('chunk', { text: '{}' })],
    ['a chunk that is no base64', frameOf('chunk', { bytes: 'e30' })],
  ])('holds an answer with %s', async (_, frame) => {
    proxy = await proxied(
      scriptedGuard(),
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
        const [start, ...rest] = chunksOf([call('c1', { cmd: 'ls' })])
        response.end(Buffer.concat([start as Buffer, frame, ...rest]))
      },
      '',
      veto,
    )
    await expect(asked(proxy.url, request, true)).rejects.toThrow('Weir cannot judge the answer')
  })

  it('shows an exception of a stream to the SDK', async () => {
    proxy = await proxied(
      scriptedGuard(),
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
        response.write(chunksOf([])[0])
        response.end(frameOf('modelTimeoutException', { message: 'Too slow.' }, 'exception'))
      },
      '',
      veto,
    )
    await expect(asked(proxy.url, request, true)).rejects.toMatchObject({
      name: 'ModelTimeoutException',
      message: 'Too slow.',
    })
  })

  it.each(forms)(
    'refuses a request of another model, whose body Weir does not read (%s)',
    async (_, isStreamed) => {
      const { url, received } = await opened(veto, [{ type: 'text', text: 'x' }])
      await expect(asked(url, { inputText: 'x' }, isStreamed)).rejects.toThrow('use Converse')
      expect(received).toEqual([])
    },
  )
})

describe('Claude through InvokeModel without a veto', () => {
  it.each(forms)('ends an agent that makes no progress (%s)', async (_, isStreamed) => {
    const { url, received } = await opened(undefined, [call('c1', {})])
    const messages: Json[] = [...request.messages]
    let last: Json[] = []
    for (let n = 0; n < 25 && (n === 0 || callsOf(last).length > 0); n += 1) {
      last = await asked(url, { ...request, messages }, isStreamed)
      const results = callsOf(last).map(({ id }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: 'Error: exec needs cmd',
        is_error: true,
      }))
      messages.push({ role: 'assistant', content: last }, { role: 'user', content: results })
      await proxy?.settled()
    }
    expect(last[0]?.text).toContain('I could not')
    expect(received.length).toBeLessThan(12)
  })

  it('passes the request of another model, marked and counted as unjudged', async () => {
    const { url, received, logged } = await opened(undefined, [{ type: 'text', text: 'x' }])
    const response = await fetch(`${url}/model/amazon.x/invoke`, {
      method: 'POST',
      body: JSON.stringify({ inputText: 'x' }),
    })
    expect([response.status, response.headers.get('x-weir')]).toEqual([200, 'unjudged'])
    expect(received).toHaveLength(1)
    expect(logged()).toContain('Bedrock')
  })
})
