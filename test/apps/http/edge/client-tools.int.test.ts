// Calls that the client runs, with the official clients of each protocol against the real server.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpAgent } from '@ag-ui/client'
import { describe, expect, it } from '@jest/globals'
import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai'
import OpenAI from 'openai'
import { createApiKey } from '../../../../apps/http/edge/access/api-keys.ts'
import { call, says } from '../../../../client/testing/testing.ts'
import { defineTool } from '../../../../client/weir.ts'
import { until } from '../../../support/inbox.ts'
import { edgeServer, post, serverSentEvents } from './edge-server.ts'
import { PageChat } from './ui-stream/page-chat.ts'

const schema = { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] }
const pick = defineTool({
  name: 'pick',
  description: 'Lets the user pick.',
  parameters: schema,
  client: true,
  timeoutMs: 60_000,
})
const clock = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  parameters: { type: 'object' },
  run: () => 'noon',
})
const tools = [pick, clock]
const script = [says('I ask.', call('pick', { from: 'red, blue' })), says('Blue it is.')]
const model = 'weir/helper'
const clientOf = (url: string, apiKey = 'none') =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 1 })

type Input = OpenAI.Responses.ResponseInputItem[]
const outputOf = (callId: string, output = 'blue'): Input => [
  { type: 'function_call_output', call_id: callId, output },
]
const callIn = ({ output }: OpenAI.Responses.Response) =>
  output.find((item) => item.type === 'function_call')

describe('the Responses API', () => {
  it('ends with a function_call, and the next response has the rest of the turn', async () => {
    await using edge = await edgeServer(script, { tools })
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'a colour?' })
    expect(first.output.map(({ type }) => type)).toEqual(['message', 'function_call'])
    expect(callIn(first)).toMatchObject({ name: 'pick', arguments: '{"from":"red, blue"}' })
    const id = callIn(first)?.call_id ?? ''
    const previous_response_id = first.id
    const second = await responses.create({ model, input: outputOf(id), previous_response_id })
    expect([second.status, second.output_text]).toEqual(['completed', 'Blue it is.'])
    expect(edge.model.requests[1]?.results).toEqual(['blue'])
  })

  it('streams the call as its events, and the rest by the conversation', async () => {
    await using edge = await edgeServer(script, { tools })
    const { responses } = clientOf(edge.url)
    const stream = responses.stream({ model, input: 'a colour?', conversation: 'c' })
    const numbers: number[] = []
    stream.on('event', ({ sequence_number: number }) => numbers.push(number))
    const first = await stream.finalResponse()
    expect(callIn(first)?.arguments).toBe('{"from":"red, blue"}')
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    const input = outputOf(callIn(first)?.call_id ?? '')
    const rest = responses.stream({ model, input, conversation: 'c' })
    expect((await rest.finalResponse()).output_text).toBe('Blue it is.')
  })

  it('has the offers of a round together, after the calls that Weir ran', async () => {
    const calls = [call('pick', { from: 'a' }), call('clock'), call('pick', { from: 'b' })]
    await using edge = await edgeServer([says(...calls), says('Both.')], { tools })
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'go' })
    expect(first.output.map(({ type }) => type).toSorted()).toEqual([
      ...['function_call', 'function_call', 'mcp_call'],
    ])
    const ids = first.output.flatMap((item) => (item.type === 'function_call' ? item.call_id : []))
    const previous_response_id = first.id
    await expect(
      responses.create({ model, input: outputOf(ids[0]!), previous_response_id }),
    ).rejects.toMatchObject({ status: 400, code: 'call.unanswered' })
    const input = ids.flatMap((id) => outputOf(id, id))
    const second = await responses.create({ model, input, previous_response_id })
    expect(second.output_text).toBe('Both.')
    expect(edge.model.requests[1]?.results).toEqual([ids[0], 'noon', ids[1]])
  })

  it('takes a repeated result, and refuses a second, a late and a foreign one', async () => {
    const more = [says(call('pick', { from: 'red' })), says('Red.')]
    await using edge = await edgeServer([...script, ...more], { tools })
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'a colour?' })
    const id = callIn(first)?.call_id ?? ''
    const answer = (output: string) =>
      responses.create({ model, input: outputOf(id, output), previous_response_id: first.id })
    expect((await answer('blue')).output_text).toBe('Blue it is.')
    expect((await answer('blue')).output_text).toBe('Blue it is.')
    await expect(answer('red')).rejects.toMatchObject({ status: 409, code: 'call.over' })
    const other = await responses.create({ model, input: 'again?' })
    await expect(
      responses.create({
        model,
        input: outputOf('call-9-9-9'),
        previous_response_id: other.id,
      }),
    ).rejects.toMatchObject({
      status: 404,
      code: 'call.unknown',
      message: expect.not.stringContaining('call-offered'),
    })
  })

  it('takes no result of a call that Weir runs', async () => {
    await using edge = await edgeServer([says(call('clock')), says('Noon.')], { tools })
    const { responses } = clientOf(edge.url)
    const { id, output } = await responses.create({ model, input: 'time?' })
    const forged = output[0]?.id?.replace('mcp_', 'call-').replaceAll('_', '-') ?? ''
    await expect(
      responses.create({ model, input: outputOf(forged, 'midnight'), previous_response_id: id }),
    ).rejects.toMatchObject({ status: 404, code: 'call.unknown' })
    expect(edge.model.requests[1]?.results).toEqual(['noon'])
  })

  it('accepts declarations of the tools that the agent has for clients, and no others', async () => {
    await using edge = await edgeServer([says('Hello.')], { tools })
    const { responses } = clientOf(edge.url)
    const declared = (name: string): OpenAI.Responses.Tool[] => [
      { type: 'function', name, parameters: schema, strict: false },
    ]
    const answer = await responses.create({ model, input: 'hi', tools: declared('pick') })
    expect(answer.output_text).toBe('Hello.')
    await expect(
      responses.create({ model, input: 'hi', tools: declared('clock') }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('pick') })
  })

  it('is found again by its id while it waits and afterwards', async () => {
    await using edge = await edgeServer(script, { tools })
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'a colour?' })
    expect((await responses.retrieve(first.id)).output).toEqual(first.output)
    const input = outputOf(callIn(first)?.call_id ?? '')
    const second = await responses.create({ model, input, previous_response_id: first.id })
    expect((await responses.retrieve(second.id)).output).toEqual(second.output)
  })

  it('shows no call of another tenant', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-keys-'))
    const file = join(folder, 'keys.json')
    const keyOf = (tenant: string) =>
      createApiKey(file, { name: tenant, tenant, roles: ['ask', 'read'] })
    const keys = { acme: keyOf('acme'), other: keyOf('other') }
    await using edge = await edgeServer(script, { tools, access: { apiKeys: file } })
    const own = clientOf(edge.url, keys.acme).responses
    const foreign = clientOf(edge.url, keys.other).responses
    const first = await own.create({ model, input: 'a colour?', conversation: 'c' })
    const input = outputOf(callIn(first)?.call_id ?? '')
    await expect(foreign.create({ model, input, conversation: 'c' })).rejects.toMatchObject({
      status: 404,
    })
    const { turn, round, ordinal } = (await edge.weir.conversation('acme:c').offeredCalls())[0]!
    const result = { turn, round, ordinal, text: 'forged' }
    const url = `${edge.url}/v1/conversations/c/results`
    const bearer = (name: keyof typeof keys) => ({ authorization: `Bearer ${keys[name]}` })
    expect((await post(url, result, bearer('other'))).status).toBe(404)
    expect((await post(url, { ...result, text: 'own' }, bearer('acme'))).status).toBe(200)
    expect((await post(url, result, bearer('acme'))).status).toBe(409)
    rmSync(folder, { recursive: true })
  })
})

describe('Chat Completions', () => {
  const question = { role: 'user' as const, content: 'a colour?' }

  it('has tool_calls for the tools of the client, and goes on after their results', async () => {
    const calls = says('I ask.', call('clock'), call('pick', { from: 'red, blue' }))
    await using edge = await edgeServer([calls, says('Blue it is.'), says('Bye.')], { tools })
    const { completions } = clientOf(edge.url).chat
    const first = await completions.create({ model, messages: [question] })
    const [choice] = first.choices
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I ask.' } })
    const called = choice?.message.tool_calls ?? []
    expect(called).toMatchObject([{ function: { name: 'pick' } }])
    const results = called.map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'blue',
    }))
    const messages = [question, choice!.message, ...results]
    const second = await completions.create({ model, messages })
    expect(second.choices[0]?.message.content).toBe('Blue it is.')
    expect(edge.model.requests[1]?.results).toEqual(['noon', 'blue'])
    const bye = { role: 'user' as const, content: 'bye' }
    await completions.create({ model, messages: [...messages, second.choices[0]!.message, bye] })
    expect(edge.model.requests[2]?.texts).toContain('a colour?')
    expect((await edge.weir.conversations()).conversations).toHaveLength(1)
  })

  it('leaves the own tools of a chat client out, and names them', async () => {
    await using edge = await edgeServer([says('Hello.')], { tools })
    const named = (name: string) => ({ type: 'function', function: { name, parameters: schema } })
    const body = { model, messages: [question], tools: [named('pick'), named('get_weather')] }
    const response = await post(`${edge.url}/v1/chat/completions`, body)
    expect(response.headers.get('x-weir-tools-left-out')).toBe('get_weather')
    expect(edge.model.requests[0]?.tools.toSorted()).toEqual(['clock', 'pick'])
    for (const forced of [
      { tool_choice: 'required' },
      { tool_choice: 'none' },
      { function_call: 'none' },
    ])
      expect((await post(`${edge.url}/v1/chat/completions`, { ...body, ...forced })).status).toBe(
        400,
      )
  })

  it('answers a client whose own tools have broken names, or names beyond a header', async () => {
    await using edge = await edgeServer([says('Hello.'), says('Hello.')], { tools })
    const named = (name: string) => ({ type: 'function', function: { name } })
    const leftOut = async (names: string[]) => {
      const body = { model, messages: [question], tools: names.map(named) }
      const response = await post(`${edge.url}/v1/chat/completions`, body)
      expect(response.status).toBe(200)
      return response.headers.get('x-weir-tools-left-out')
    }
    expect(await leftOut(['a\ud800'])).toBe('a%EF%BF%BD')
    expect(await leftOut(['clock_of_mine', 'x'.repeat(100_000)])).toBe('clock_of_mine')
  })

  it('streams them, and refuses the result of an unknown call', async () => {
    await using edge = await edgeServer(script, { tools })
    const { completions } = clientOf(edge.url).chat
    const stream = completions.stream({ model, messages: [question] })
    const { choices } = await stream.finalChatCompletion()
    const id = choices[0]?.message.tool_calls?.[0]?.id ?? ''
    const result = { role: 'tool' as const, tool_call_id: id, content: 'blue' }
    const messages = [question, choices[0]!.message, result]
    const rest = completions.stream({ model, messages })
    expect((await rest.finalChatCompletion()).choices[0]?.message.content).toBe('Blue it is.')
    const unknown = { ...result, tool_call_id: 'call-1-1-1' }
    await expect(
      completions.create({ model, messages: [question, choices[0]!.message, unknown] }),
    ).rejects.toMatchObject({ status: 404, code: 'call.unknown' })
  })
})

describe('a page with useChat', () => {
  it('runs its tool and sends the output by itself', async () => {
    const calls = says('I ask.', call('clock'), call('pick', { from: 'red, blue' }))
    await using edge = await edgeServer([calls, says('Blue it is.')], { tools })
    const chat = new PageChat(edge.url, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall({ toolCall: { toolName, toolCallId } }) {
        if (toolName === 'pick')
          void chat.addToolOutput({ tool: toolName as never, toolCallId, output: 'blue' as never })
      },
    })
    await chat.sendMessage({ text: 'A colour?' })
    await chat.until(() => chat.shown.some((part) => 'text' in part && part.text === 'Blue it is.'))
    const byName = (name: string) =>
      chat.shown.find((part) => 'toolName' in part && part.toolName === name)
    expect(byName('clock')).toMatchObject({ state: 'output-available', providerExecuted: true })
    expect(byName('pick')).toMatchObject({ state: 'output-available', output: 'blue' })
    expect(chat.messages).toHaveLength(2)
    expect(edge.model.requests[1]?.results).toEqual(['noon', 'blue'])
  })

  it('reports the failure of its tool', async () => {
    await using edge = await edgeServer(script, { tools })
    const chat = new PageChat(edge.url, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    })
    await chat.sendMessage({ text: 'A colour?' })
    const part = chat.shown.find((one) => 'toolCallId' in one)
    const toolCallId = part !== undefined && 'toolCallId' in part ? part.toolCallId : ''
    await chat.addToolOutput({
      tool: 'pick' as never,
      toolCallId,
      state: 'output-error',
      errorText: 'no palette',
    })
    await chat.until(() => edge.model.requests.length === 2 && chat.status === 'ready')
    expect(edge.model.requests[1]?.results).toEqual(['no palette'])
  })
})

describe('HttpAgent of AG-UI', () => {
  it('ends a run with the call, and the next run has its result', async () => {
    await using edge = await edgeServer(script, { tools })
    const agent = new HttpAgent({
      url: `${edge.url}/v1/ag-ui/helper`,
      threadId: 't1',
      initialMessages: [{ id: 'u1', role: 'user', content: 'A colour?' }],
    })
    const declared = { name: 'pick', description: 'Picks.', parameters: schema }
    await agent.runAgent({ tools: [declared] })
    const calls = agent.messages.flatMap((one) =>
      one.role === 'assistant' ? (one.toolCalls ?? []) : [],
    )
    expect(calls).toMatchObject([{ function: { name: 'pick' } }])
    const toolCallId = calls[0]?.id ?? ''
    agent.addMessage({ id: 'r1', role: 'tool', toolCallId, content: 'blue' })
    await agent.runAgent({ tools: [declared] })
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Blue it is.' })
    expect(agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(1)
    expect(edge.model.requests[1]?.results).toEqual(['blue'])
    const messages = [{ id: 'u2', role: 'user', content: 'And now?' }]
    const run = { threadId: 't1', runId: 'r9', messages, tools: [{ ...declared, name: 'clock' }] }
    const refused = await post(`${edge.url}/v1/ag-ui/helper`, run)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('pick')])
  })
})

describe('the native protocol', () => {
  it('shows the offer, and takes the result', async () => {
    await using edge = await edgeServer(script, { tools })
    const base = `${edge.url}/v1/conversations/c`
    await post(`${base}/messages`, { text: 'a colour?' })
    const feed = async () => fetch(`${base}/events`)
    let response = await feed()
    await until(async () => {
      if (response.status === 404) response = await feed()
      return response.status !== 404
    })
    for await (const { event, data } of serverSentEvents(response)) {
      if (event === 'call-offered') {
        const { turn, round, ordinal } = JSON.parse(data)
        const place = { turn, round, ordinal }
        expect((await post(`${base}/results`, { ...place, round: 'x', text: '' })).status).toBe(400)
        const sent = await post(`${base}/results`, { ...place, text: 'blue' })
        expect([sent.status, await sent.json()]).toEqual([200, place])
      }
      if (event === 'turn-finished') break
    }
    expect(edge.model.requests[1]?.results).toEqual(['blue'])
  })
})
