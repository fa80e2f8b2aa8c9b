// The Responses API with the official SDK against a real server.

import { describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { responseIdOf } from '../../../../apps/http/edge/responses/response-id.ts'
import { call, fails, says, silent, thinks } from '../../../../client/testing/testing.ts'
import { defineTool } from '../../../../client/weir.ts'
import { contentsOf, dot, edgeServer, post } from './edge-server.ts'

const clientOf = (url: string) => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1` })
const model = 'weir/helper'
const clock = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  run: () => 'noon',
})
const approvals = { rules: [{ name: 'ask-first', tools: ['clock'] }] }
const script = [says('I look.', call('clock'), call('clock', { zone: 'UTC' })), says('It is noon.')]

describe('the Responses API', () => {
  it('streams the text of each round, and the calls that Weir ran with their ends', async () => {
    await using edge = await edgeServer(script, { tools: [clock] })
    const stream = clientOf(edge.url).responses.stream({ model, input: 'time?', conversation: 'c' })
    const numbers: number[] = []
    stream.on('event', ({ sequence_number: number }) => numbers.push(number))
    const { output, status, output_text: text } = await stream.finalResponse()
    expect(status).toBe('completed')
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    expect(output.map((item) => [item.type, 'status' in item ? item.status : ''])).toEqual([
      ['message', 'completed'],
      ['mcp_call', 'failed'],
      ['mcp_call', 'completed'],
      ['message', 'completed'],
    ])
    expect(output[1]).toMatchObject({ output: null, error: expect.stringContaining('zone') })
    expect(output[2]).toMatchObject({ arguments: '{"zone":"UTC"}', output: 'noon', error: null })
    expect(text).toContain('It is noon.')
  })

  it('gives the same answer whole, and again by its id', async () => {
    await using edge = await edgeServer(script, { tools: [clock] })
    const client = clientOf(edge.url)
    const created = await client.responses.create({ model, input: 'time?' })
    const found = await client.responses.retrieve(created.id)
    expect(found.output).toEqual(created.output)
    expect([found.status, found.usage]).toEqual(['completed', created.usage])
  })

  it('continues after any event with the same numbers as before', async () => {
    await using edge = await edgeServer(script, { tools: [clock] })
    const client = clientOf(edge.url)
    const live = await read(await client.responses.create({ model, input: 'a', stream: true }))
    const id = live[0]?.type === 'response.created' ? live[0].response.id : ''
    for (const [at, { sequence_number: number }] of live.entries()) {
      const rest = await read(
        await client.responses.retrieve(id, { stream: true, starting_after: number }),
      )
      expect(textOf([...live.slice(0, at + 1), ...rest])).toBe(textOf(live))
      const others = (events: typeof live) =>
        events
          .filter(({ type }) => type !== 'response.output_text.delta')
          .map((event) => [event.sequence_number, event.type])
      expect(others(rest)).toEqual(others(live.slice(at + 1)))
    }
  })

  it('has the reasoning of each round as an item, live and read back', async () => {
    const thoughtful = [
      says(thinks('Hm. '), 'I look.', call('clock', { zone: 'UTC' })),
      says(thinks('So.'), 'It is noon.'),
    ]
    await using edge = await edgeServer(thoughtful, { tools: [clock] })
    const client = clientOf(edge.url)
    const live = await read(await client.responses.create({ model, input: 'a', stream: true }))
    const { id, output } = endOf(live)
    const types = ['reasoning', 'message', 'mcp_call', 'reasoning', 'message']
    expect(output.map(({ type }) => type)).toEqual(types)
    expect(output[0]).toMatchObject({ content: [{ type: 'reasoning_text', text: 'Hm. ' }] })
    expect((await client.responses.retrieve(id)).output).toEqual(output)
    for (const [at, { sequence_number: number }] of live.entries()) {
      const rest = await read(
        await client.responses.retrieve(id, { stream: true, starting_after: number }),
      )
      const shape = (events: Event[]) =>
        events.filter(({ type }) => !type.endsWith('.delta')).map((one) => JSON.stringify(one))
      const later = shape(live.slice(at + 1)).slice(0, -1)
      expect(shape(rest).slice(0, -1)).toEqual(later)
      expect(deltasOf([...live.slice(0, at + 1), ...rest])).toBe(deltasOf(live))
    }
  })

  it('ends with the calls that wait for a person, and goes on with the answer', async () => {
    await using edge = await edgeServer(
      [says('I ask.', call('clock', { zone: 'UTC' })), says('It is noon.')],
      { tools: [clock], approvals },
    )
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'time?' })
    const request = first.output.find(({ type }) => type === 'mcp_approval_request')
    expect([first.status, first.output_text]).toEqual(['completed', 'I ask.'])
    expect(request).toMatchObject({ name: 'clock', arguments: '{"zone":"UTC"}' })
    expect((await responses.retrieve(first.id)).output).toEqual(first.output)
    const answer = {
      type: 'mcp_approval_response' as const,
      approve: true,
      approval_request_id: request?.id ?? '',
    }
    const input = [answer]
    const stream = responses.stream({ model, input, previous_response_id: first.id })
    const second = await stream.finalResponse()
    expect(second.output).toMatchObject([
      { type: 'mcp_call', output: 'noon', approval_request_id: request?.id },
      { type: 'message' },
    ])
    expect(second.output_text).toBe('It is noon.')
    expect(second.id).not.toBe(first.id)
    const again = await responses.create({ model, input, previous_response_id: first.id })
    expect([again.id, again.output_text]).toEqual([second.id, second.output_text])
    expect((await responses.retrieve(second.id)).output).toEqual(again.output)
    expect(edge.model.requests).toHaveLength(2)
  })

  it("gives the model a person's reason to refuse a call", async () => {
    await using edge = await edgeServer(
      [says(call('clock', { zone: 'UTC' })), says('As you like.')],
      { tools: [clock], approvals },
    )
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'time?', conversation: 'c' })
    const request = first.output.at(-1)
    const answer = { type: 'mcp_approval_response' as const, approve: false, reason: 'not today' }
    const second = await responses.create({
      model,
      conversation: 'c',
      input: [{ ...answer, approval_request_id: request?.id ?? '' }],
    })
    expect(second.output[0]).toMatchObject({
      type: 'mcp_call',
      status: 'failed',
      arguments: '{"zone":"UTC"}',
      approval_request_id: request?.id,
    })
    expect(JSON.stringify(second.output[0])).toContain('not today')
    expect(edge.model.requests[1]?.results.join()).toContain('not today')
  })

  it('refuses an answer to an approval that the turn does not have', async () => {
    await using edge = await edgeServer([says(call('clock', { zone: 'UTC' })), says('Noon.')], {
      tools: [clock],
      approvals,
    })
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'time?' })
    const answer = { type: 'mcp_approval_response' as const, approve: true }
    await expect(
      responses.create({
        model,
        previous_response_id: first.id,
        input: [{ ...answer, approval_request_id: 'k7f3-9qxm-2b4d' }],
      }),
    ).rejects.toMatchObject({ status: 404, code: 'approval.unknown' })
  })

  it('ends a stream with an error event if the turn has no approval of its id', async () => {
    await using edge = await edgeServer([says(call('clock', { zone: 'UTC' })), says('Noon.')], {
      tools: [clock],
      approvals,
    })
    const { responses } = clientOf(edge.url)
    const { id } = await responses.create({ model, input: 'time?' })
    const [conversation, messageId] = namesIn(id)
    const forged = responseIdOf({ conversation, messageId, answered: ['k7f3-9qxm-2b4d'] })
    const stream = await responses.retrieve(forged, { stream: true })
    await expect(read(stream)).rejects.toMatchObject({ code: 'approval.unknown' })
  })

  it('refuses a contrary, an unknown and a foreign answer after the turn went on', async () => {
    const asks = says(call('clock', { zone: 'UTC' }))
    await using edge = await edgeServer([asks, asks, says('As you like.')], {
      tools: [clock],
      approvals,
    })
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'time?' })
    const id = first.output.at(-1)?.id ?? ''
    const other = await responses.create({ model, input: 'and now?' })
    const answer = (approve: boolean, approval_request_id = id) =>
      responses.create({
        model,
        previous_response_id: first.id,
        input: [{ type: 'mcp_approval_response', approval_request_id, approve }],
      })
    const rejected = await answer(false)
    expect(rejected.output_text).toBe('As you like.')
    await expect(answer(true)).rejects.toMatchObject({
      status: 409,
      code: 'approval.decided',
      message: expect.stringContaining('was denied by'),
    })
    const unknown = { status: 404, code: 'approval.unknown' }
    await expect(answer(true, 'aaaa-bbbb-cccc')).rejects.toMatchObject(unknown)
    await expect(answer(true, other.output.at(-1)?.id)).rejects.toMatchObject(unknown)
    expect((await edge.weir.approvals()).map((one) => one.conversation)).toEqual([
      conversationOf(other.id),
    ])
    expect((await answer(false)).output).toEqual(rejected.output)
  })

  it('refuses a message after a call that waits for a decision of its author, unless it is repeated', async () => {
    await using edge = await edgeServer([says(call('clock', { zone: 'UTC' })), says('Bye.')], {
      tools: [clock],
      approvals,
    })
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'time?', conversation: 'c' })
    const { id } = first.output.at(-1)!
    const next = { model, input: 'hurry', conversation: 'c' }
    await expect(responses.create(next)).rejects.toMatchObject({
      status: 400,
      code: 'approval.unanswered',
      error: { calls: [{ id, name: 'clock' }] },
      message: expect.stringContaining(`${id} (clock): send an mcp_approval_response`),
    })
    const again = await responses.create({ model, input: 'time?', conversation: 'c' })
    expect(again.output).toEqual(first.output)
    await responses.cancel(first.id)
    expect((await responses.create(next)).output_text).toBe('Bye.')
  })

  it('gives the model the images and files of a message', async () => {
    await using edge = await edgeServer([says('A dot.')])
    const content = [
      { type: 'input_text' as const, text: 'What is it?' },
      {
        type: 'input_image' as const,
        detail: 'auto' as const,
        image_url: `data:image/png;base64,${dot}`,
      },
      {
        type: 'input_file' as const,
        filename: 'notes.txt',
        file_data: `data:text/plain;base64,${Buffer.from('a note').toString('base64')}`,
      },
    ]
    const { responses } = clientOf(edge.url)
    const { output_text: text } = await responses.create({
      model,
      conversation: 'c',
      input: [{ role: 'user', content }],
    })
    expect(text).toBe('A dot.')
    expect(await contentsOf(edge, 'c')).toEqual(['image/png ', 'text/plain notes.txt'])
  })

  it('continues a conversation with previous_response_id, from its last response only', async () => {
    await using edge = await edgeServer([says('One.'), says('Two.'), says('Three.')])
    const { responses } = clientOf(edge.url)
    const first = await responses.create({ model, input: 'a' })
    const second = await responses.create({ model, input: 'b', previous_response_id: first.id })
    expect(second.output_text).toBe('Two.')
    expect(edge.model.requests[1]?.texts).toEqual(['a', 'One.', 'b'])
    await expect(
      responses.create({ model, input: 'c', previous_response_id: first.id }),
    ).rejects.toMatchObject({ status: 400 })
  })

  it('cancels a response', async () => {
    await using edge = await edgeServer([silent('Wait')])
    const { responses } = clientOf(edge.url)
    const { id, status } = await responses.create({ model, input: 'a', background: true })
    expect(status).toBe('in_progress')
    for await (const { type } of edge.weir.conversation(conversationOf(id)).events())
      if (type === 'text-delta') break
    expect((await responses.cancel(id)).status).toBe('cancelled')
    expect((await responses.retrieve(id)).status).toBe('cancelled')
  })

  it('reports a turn that fails', async () => {
    await using edge = await edgeServer([fails(400, 'no')])
    const response = await clientOf(edge.url).responses.create({ model, input: 'a' })
    expect([response.status, response.error?.code]).toEqual(['failed', 'server_error'])
  })

  it.each([
    [{ model: 'weir/helpr', input: 'a' }, 404, /did you mean weir\/helper/],
    [{ model, input: 'a', tools: [{ type: 'web_search' }] }, 400, /tools\[0\] is not offered/],
    [{ model, input: 'a', store: false }, 400, /store: false is not offered.*Leave it out/],
    [{ model, input: 'a', truncation: 'auto' }, 400, /truncation: .auto. is not offered/],
    [{ model, input: 'a', tool_choice: 'required' }, 400, /tool_choice: .required. is not offered/],
    [{ model, input: 'a', tool_choice: 'none' }, 400, /tool_choice: .none. is not offered/],
    [{ model, input: 'a', max_tool_calls: 1 }, 400, /max_tool_calls: 1 is not offered: the caps/],
    [{ model, input: 'a', stream: 'yes' }, 400, /stream: .yes. is not offered: give true or false/],
    [{ model, input: [{ type: 'computer_call' }] }, 400, /input\[0\] must be a message/],
    [
      { model, input: [{ type: 'item_reference', id: 'x' }] },
      400,
      /earlier response.*conversation/,
    ],
    [{ model, input: [{ type: 'function_call', call_id: 'x' }] }, 400, /earlier response/],
    [{ model, input: [{ role: 'assistant', content: 'x' }] }, 400, /previous_response_id/],
    [`{"model":"${model}","inp`, 400, /has 27 bytes that are no valid JSON/],
    [{ model, input: 'a', conversation: 'c', previous_response_id: 'r' }, 400, /exclude/],
    [{ model, input: [image('https://example.com/a.png')] }, 400, /other URLs are not accepted/],
    [{ model, input: [image(undefined)] }, 400, /data URL/],
    [{ model, input: [image('data:image/png;base64,aGVsbG8=')] }, 400, /image/],
    [{ model, input: [approval('x')] }, 400, /needs conversation/],
    [{ model, conversation: 'c', input: [approval(1)] }, 400, /approval_request_id must be/],
    [{ model, conversation: 'none', input: [approval('x')] }, 404, /no such response/],
    [{ model, input: 'a', previous_response_id: 'resp_x' }, 404, /no such response/],
  ])('refuses %j with status %d', async (body, status, text) => {
    await using edge = await edgeServer([])
    const response = await post(`${edge.url}/v1/responses`, body)
    const { error } = (await response.json()) as { error: { message: string } }
    expect([response.status, error.message]).toEqual([status, expect.stringMatching(text)])
  })
})

function image(url: string | undefined): object {
  return { role: 'user', content: [{ type: 'input_image', image_url: url }] }
}

function approval(id: unknown): object {
  return { type: 'mcp_approval_response', approval_request_id: id, approve: true }
}

type Event = OpenAI.Responses.ResponseStreamEvent

async function read(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = []
  for await (const event of events) all.push(event)
  return all
}

function endOf(events: Event[]): OpenAI.Responses.Response {
  const last = events.at(-1)
  if (last?.type === 'response.completed') return last.response
  throw new Error(`the last event is ${last?.type}`)
}

function deltasOf(events: Event[]): string {
  return events.map((event) => ('delta' in event ? String(event.delta) : '')).join('')
}

function textOf(events: Event[]): string {
  return events
    .map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''))
    .join('')
}

function conversationOf(id: string): string {
  return namesIn(id)[0]
}

/** The conversation and the id of the message. */
function namesIn(id: string): [string, string] {
  const text = Buffer.from(id.slice('resp_'.length), 'base64url').toString('utf8')
  return JSON.parse(text) as [string, string]
}
