// Ollama behind the proxy, where it differs from the other APIs: lines in the place of events, calls
// without ids, a stream by default, and results that name their tool.

import { afterEach, describe, expect, it } from '@jest/globals'
import { Ollama } from 'ollama'
import { pino } from 'pino'
import { type Fronts, openFronts } from '../../../../../../client/guard/log/fronts.ts'
import { ollama } from '../../../../../../shared/wire/ollama/format.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { type Proxied, proxied } from '../proxied.ts'
import { sendJson } from '../scripted-upstream.ts'
import { joinedMessage } from '../sdk-clients.ts'
import { isOllamaStream, ollamaCall, ollamaPieces } from './model.ts'

type Json = Record<string, unknown>

let proxy: Proxied | undefined
let fronts: Fronts | undefined

afterEach(async () => {
  await proxy?.close()
  await fronts?.close()
  fronts = undefined
})

const parameters = { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] }
const tools = [{ type: 'function', function: { name: 'exec', description: '', parameters } }]
const question = { role: 'user', content: 'List the files.' }
const veto = { coversSubscriptions: false }

/** A model that answers with these messages in turn, under the veto and the real stages. */
async function opened(...answers: Json[][]): Promise<Proxied> {
  fronts = await openFronts({ kind: 'memory' }, { log: pino({ level: 'silent' }) })
  const guard = fronts.front({ agent: 'main', mode: 'blocking' })
  const respond: Parameters<typeof proxied>[1] = ({ url, body }, response, n) => {
    const isStreamed = isOllamaStream(url, JSON.parse(body.toString()) as Json)
    const type = isStreamed ? 'application/x-ndjson' : 'application/json'
    response.writeHead(200, { 'content-type': type })
    const messages = answers[Math.min(n, answers.length) - 1] ?? []
    response.end(ollamaPieces(messages, isStreamed).join(''))
  }
  proxy = await proxied(guard, respond, '', veto)
  return proxy
}

const exec = (...list: Json[]) => ({ tool_calls: list.map((args) => ollamaCall('', args)) })

describe('Ollama under the veto', () => {
  it('has calls without ids judged by their places, and hides a denied answer', async () => {
    const { url, received } = await opened(
      [{ thinking: 'Hm.' }, exec({}, { cmd: 'ls' })],
      [exec({ cmd: 'pwd' }, { cmd: 'ls' })],
    )
    const client = new Ollama({ host: url })
    const request = { model: 'm', messages: [question], tools }
    const message = await joinedMessage(await client.chat({ ...request, stream: true }))
    expect(message.tool_calls?.map((one) => one.function.arguments)).toEqual([
      { cmd: 'pwd' },
      { cmd: 'ls' },
    ])
    const repeat = JSON.parse(received[1]?.body.toString() ?? '{}') as { messages: Json[] }
    expect(repeat.messages).toMatchObject([
      question,
      { role: 'assistant', thinking: 'Hm.', ...exec({}, { cmd: 'ls' }) },
      { role: 'tool', tool_name: 'exec', content: expect.stringContaining('cmd') },
      { role: 'tool', tool_name: 'exec', content: expect.stringContaining('another call') },
    ])
  })

  it('streams to a client that does not mention streams', async () => {
    const { url } = await opened([{ content: 'Done.' }])
    const response = await fetch(`${url}/api/chat`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [question], tools }),
    })
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = (await response.text()).trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as Json).done)).toEqual([false, true])
  })

  it('gets the error of a server as a text', async () => {
    proxy = await proxied(
      scriptedGuard(),
      (_, response) => sendJson(response, { error: "model 'm' not found" }, 404),
      '',
      veto,
    )
    const client = new Ollama({ host: proxy.url })
    const asked = client.chat({ model: 'm', messages: [question], stream: false })
    await expect(asked).rejects.toThrow("model 'm' not found")
  })

  it('has no way past Weir by /api/generate', async () => {
    const { url, received } = await opened([{ content: 'x' }])
    const body = JSON.stringify({ model: 'm', prompt: 'Hi.' })
    const response = await fetch(`${url}/api/generate`, { method: 'POST', body })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('use Messages')
    const asked = new Ollama({ host: url }).generate({ model: 'm', prompt: 'Hi.' })
    await expect(asked).rejects.toThrow('use Messages')
    expect(received).toEqual([])
  })

  it('shows the errors of Weir to its client as texts', async () => {
    const { url } = await opened([{ content: 'x' }])
    const client = new Ollama({ host: url, headers: { 'x-weir-conversation': 'c' } })
    const messages = [7] as unknown as []
    const asked = client.chat({ model: 'm', messages, tools, stream: false })
    await expect(asked).rejects.toThrow('messages[0]')
  })
})

describe('the likeness of a request', () => {
  it('has results in the order of their calls, and the limit of tokens', () => {
    const called = (name: string) => ({ function: { name, arguments: {} } })
    const result = (tool_name: string) => ({ role: 'tool', tool_name, content: tool_name })
    const answer = { role: 'assistant', content: '', tool_calls: [called('a'), called('b')] }
    const thinking = { role: 'assistant', content: 'x', thinking: 'Hm.' }
    const messages = [question, answer, result('b'), result('a'), thinking]
    const body = ollama.like.body({ model: 'm', messages, options: { num_predict: 9 } })
    expect(body).toMatchObject({
      model: 'm',
      max_tokens: 9,
      messages: [
        question,
        answer,
        result('a'),
        result('b'),
        { content: 'x', reasoning_content: 'Hm.' },
      ],
    })
  })
})
