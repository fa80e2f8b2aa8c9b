// Requests after a call that waits for its client, and repeated ones, with the official SDK.

import { describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { call, says } from '../../../../client/testing/testing.ts'
import { defineTool } from '../../../../client/weir.ts'
import { type EdgeServer, edgeServer, post } from './edge-server.ts'

const pick = defineTool({
  name: 'pick',
  description: 'Lets the user pick.',
  parameters: { type: 'object' },
  client: true,
  timeoutMs: 60_000,
})
const tools = [pick]
const asks = says('I ask.', call('pick', { from: 'red' }))
const script = [asks, says('Blue it is.'), says('Bye.')]
const model = 'weir/helper'
const clientOf = ({ url }: EdgeServer) => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1` })
const outputOf = (callId = '', output = 'blue'): OpenAI.Responses.ResponseInputItem[] => [
  { type: 'function_call_output', call_id: callId, output },
]
const callIn = ({ output }: OpenAI.Responses.Response) =>
  output.find((item) => item.type === 'function_call')?.call_id
const user = (content: string) => ({ role: 'user' as const, content })

describe('a message after an open call of its client', () => {
  it('is refused at once in the Responses API, with the calls and the way on', async () => {
    await using edge = await edgeServer(script, { tools })
    const { responses } = clientOf(edge)
    const first = await responses.create({ model, input: 'a colour?' })
    const id = callIn(first)
    const next = { model, input: 'hurry', previous_response_id: first.id }
    const refusal = {
      status: 400,
      code: 'call.unanswered',
      error: { calls: [{ id, name: 'pick' }] },
      message: expect.stringContaining(`${id} (pick): send a function_call_output`),
    }
    await expect(responses.create(next)).rejects.toMatchObject(refusal)
    await expect(responses.create({ ...next, stream: true })).rejects.toMatchObject(refusal)
    expect((await responses.create({ model, input: 'a colour?' })).output).toEqual(first.output)
    const rest = await responses.create({ ...next, input: outputOf(id) })
    const bye = await responses.create({ ...next, previous_response_id: rest.id })
    expect([rest.output_text, bye.output_text]).toEqual(['Blue it is.', 'Bye.'])
  })

  it('begins its turn once the open one is cancelled', async () => {
    await using edge = await edgeServer([asks, says('Bye.')], { tools })
    const { responses } = clientOf(edge)
    const first = await responses.create({ model, input: 'a colour?' })
    expect((await responses.cancel(first.id)).status).toBe('cancelled')
    const next = { model, input: 'bye', previous_response_id: first.id }
    expect((await responses.create(next)).output_text).toBe('Bye.')
  })

  it('is refused in Chat Completions, unless it has the results in front of it', async () => {
    await using edge = await edgeServer(script, { tools })
    const { completions } = clientOf(edge).chat
    const headers = { 'x-weir-conversation': 'c' }
    const first = await completions.create({ model, messages: [user('a colour?')] }, { headers })
    const { message } = first.choices[0]!
    const id = message.tool_calls?.[0]?.id ?? ''
    const hurry = [user('a colour?'), message, user('hurry')]
    await expect(completions.create({ model, messages: hurry }, { headers })).rejects.toMatchObject(
      {
        status: 400,
        code: 'call.unanswered',
        error: { calls: [{ id, name: 'pick' }] },
      },
    )
    await expect(completions.create({ model, messages: hurry })).rejects.toMatchObject({
      status: 400,
      code: 'call.unanswered',
      error: { calls: [{ id, name: 'pick' }] },
    })
    const foreign = { role: 'tool' as const, tool_call_id: 'toolu_1', content: 'x' }
    const result = { role: 'tool' as const, tool_call_id: id, content: 'blue' }
    const messages = [user('a colour?'), message, foreign, result, user('bye')]
    const bye = await completions.create({ model, messages }, { headers })
    expect(bye.choices[0]?.message.content).toBe('Bye.')
    expect(edge.model.requests[1]?.results).toEqual(['blue'])
  })

  it.each([
    ['ui-stream', { id: 'c', messages: [{ id: 'm2', role: 'user', parts: [] }] }, /addToolOutput/],
    ['ag-ui/helper', { threadId: 'c', runId: 'r', messages: [{ role: 'user' }] }, /toolCallId/],
  ])('is refused by %s', async (path, body, text) => {
    await using edge = await edgeServer(script, { tools })
    await clientOf(edge).responses.create({ model, input: 'a colour?', conversation: 'c' })
    const [last] = body.messages
    const part = { type: 'text', text: 'hurry' }
    const messages = [{ ...last, ...('parts' in last! ? { parts: [part] } : { content: [part] }) }]
    const response = await post(`${edge.url}/v1/${path}`, { ...body, messages })
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect([response.status, error]).toEqual([
      400,
      expect.objectContaining({
        code: 'call.unanswered',
        message: expect.stringMatching(text),
        calls: [{ id: expect.stringMatching(/^call-/), name: 'pick' }],
      }),
    ])
  })
})

describe('a repeated request with previous_response_id', () => {
  it('has the answer of the first, also after the next message', async () => {
    await using edge = await edgeServer(script, { tools })
    const { responses } = clientOf(edge)
    const first = await responses.create({ model, input: 'a colour?' })
    const answer = { model, input: outputOf(callIn(first)), previous_response_id: first.id }
    const second = await responses.create(answer)
    const message = { model, input: 'bye', previous_response_id: second.id }
    const third = await responses.create(message)
    const again = await responses.create(answer)
    expect([again.id, again.output]).toEqual([second.id, second.output])
    const thirdAgain = await responses.create(message)
    expect([thirdAgain.id, thirdAgain.output]).toEqual([third.id, third.output])
    const fourth = await responses.create({ ...message, previous_response_id: third.id })
    expect(fourth.status).toBe('failed') // the script is over
    expect((await responses.create(message)).output).toEqual(third.output)
    expect(edge.model.requests).toHaveLength(4)
  })

  it('cannot answer a call of a later turn, or change a result', async () => {
    await using edge = await edgeServer([asks, says('Blue.'), asks], { tools })
    const { responses } = clientOf(edge)
    const first = await responses.create({ model, input: 'a colour?' })
    const answer = { model, input: outputOf(callIn(first)), previous_response_id: first.id }
    const second = await responses.create(answer)
    const message = { model, input: 'again', previous_response_id: second.id }
    const third = await responses.create(message)
    const later = outputOf(callIn(third), 'red')
    await expect(responses.create({ ...answer, input: later })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('last response'),
    })
    const changed = outputOf(callIn(first), 'red')
    await expect(responses.create({ ...answer, input: changed })).rejects.toMatchObject({
      status: 409,
      code: 'call.over',
    })
    expect((await responses.create(answer)).output).toEqual(second.output)
  })
})
