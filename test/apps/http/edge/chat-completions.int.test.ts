// Chat Completions with the official SDK against a real server.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { createApiKey } from '../../../../apps/http/edge/access/api-keys.ts'
import { call, fails, says, silent, thinks } from '../../../../client/testing/testing.ts'
import { defineTool } from '../../../../client/weir.ts'
import { contentsOf, dot, edgeServer, post } from './edge-server.ts'

const clientOf = (url: string) => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1` })
const model = 'weir/helper'
const clock = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  parameters: { type: 'object' },
  run: () => 'noon',
})
const user = (content: string) => ({ role: 'user' as const, content })
const assistant = (content: string) => ({ role: 'assistant' as const, content })

describe('chat completions', () => {
  it('lists the agents as models', async () => {
    await using edge = await edgeServer([])
    const client = clientOf(edge.url)
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual([model])
    expect((await client.models.retrieve(model)).owned_by).toBe('weir')
  })

  it('streams text and reasoning, and no call of a tool that Weir runs', async () => {
    await using edge = await edgeServer(
      [says(thinks('Hm.'), 'I look.', call('clock')), says('It is noon.')],
      { tools: [clock] },
    )
    const stream = clientOf(edge.url).chat.completions.stream({
      model,
      messages: [user('time?')],
      stream_options: { include_usage: true },
    })
    const deltas: object[] = []
    stream.on('chunk', ({ choices: [choice] }) => choice && deltas.push(choice.delta))
    const { choices, usage } = await stream.finalChatCompletion()
    expect(choices[0]?.message.content).toBe('I look.\n\nIt is noon.')
    expect(choices[0]?.finish_reason).toBe('stop')
    expect(usage?.total_tokens).toBeGreaterThan(0)
    expect(deltas).toContainEqual({ reasoning_content: 'Hm.' })
    expect(JSON.stringify(deltas)).not.toContain('tool_calls')
  })

  it('continues the conversation of a resent history, and adds nothing to it', async () => {
    await using edge = await edgeServer([says('One.'), says('Two.')])
    const { chat } = clientOf(edge.url)
    await chat.completions.create({ model, messages: [user('a')] })
    const messages = [user('a'), assistant('One.'), user('b')]
    const second = await chat.completions.create({ model, messages })
    expect(second.choices[0]?.message.content).toBe('Two.')
    expect(edge.model.requests[1]?.texts).toEqual(['a', 'One.', 'b'])
    expect((await edge.weir.conversations()).conversations).toHaveLength(1)
  })

  it('begins a conversation with a history that it does not know', async () => {
    await using edge = await edgeServer([says('Two.')])
    const messages = [user('a'), assistant('One.'), user('b')]
    await clientOf(edge.url).chat.completions.create({ model, messages })
    expect(edge.model.requests[0]?.texts).toEqual(['b'])
    expect(edge.model.requests[0]?.system).toContain('<assistant>\nOne.\n</assistant>')
  })

  it('gives the model the images and files of the newest message', async () => {
    await using edge = await edgeServer([says('A dot.'), says('Yes.')])
    const { chat } = clientOf(edge.url)
    const file_data = `data:text/plain;base64,${Buffer.from('a note').toString('base64')}`
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${dot}` } },
      { type: 'file' as const, file: { filename: 'notes.txt', file_data } },
    ]
    const first = { role: 'user' as const, content }
    const headers = { 'x-weir-conversation': 'c' }
    await chat.completions.create({ model, messages: [first] }, { headers })
    expect(await contentsOf(edge, 'c')).toEqual(['image/png ', 'text/plain notes.txt'])
    const messages = [first, assistant('A dot.'), user('Sure?')]
    const { choices } = await chat.completions.create({ model, messages }, { headers })
    expect(choices[0]?.message.content).toBe('Yes.')
  })

  it('refuses a fork of a named conversation', async () => {
    await using edge = await edgeServer([says('One.'), says('Two.')])
    const client = clientOf(edge.url)
    const headers = { 'x-weir-conversation': 'c1' }
    await client.chat.completions.create({ model, messages: [user('a')] }, { headers })
    const fork = [user('other'), assistant('One.'), user('b')]
    await expect(
      client.chat.completions.create({ model, messages: fork }, { headers }),
    ).rejects.toMatchObject({ status: 409, code: 'conversation.fork' })
    const same = [user('a'), assistant('One.'), user('b')]
    const answer = await client.chat.completions.create({ model, messages: same }, { headers })
    expect(answer.choices[0]?.message.content).toBe('Two.')
  })

  it('begins another conversation with the fork of one that no request named', async () => {
    await using edge = await edgeServer([says('One.'), says('Two.'), says('Three.')])
    const { chat } = clientOf(edge.url)
    const history = [user('a'), assistant('One.')]
    await chat.completions.create({ model, messages: [user('a')] })
    await chat.completions.create({ model, messages: [...history, user('b')] })
    const other = await chat.completions.create({ model, messages: [...history, user('c')] })
    expect(other.choices[0]?.message.content).toBe('Three.')
    expect(edge.model.requests[2]?.texts).toEqual(['c'])
    expect((await edge.weir.conversations()).conversations).toHaveLength(2)
  })

  it('gives a request that is sent again the answer of the first', async () => {
    await using edge = await edgeServer([says('One.')])
    const request = { model, messages: [user('a')] }
    const answers = await Promise.all(
      [1, 2].map(() => clientOf(edge.url).chat.completions.create(request)),
    )
    answers.push(await clientOf(edge.url).chat.completions.create(request))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(edge.model.requests).toHaveLength(1)
  })

  it('opens one turn when the SDK repeats a request after a 503', async () => {
    await using edge = await edgeServer([says('One.')])
    let requests = 0
    const lossy: typeof fetch = async (...request) => {
      requests += 1
      const response = await fetch(...request)
      return requests === 1 ? new Response('gone', { status: 503 }) : response
    }
    const client = new OpenAI({ apiKey: 'none', baseURL: `${edge.url}/v1`, fetch: lossy })
    const answer = await client.chat.completions.create({ model, messages: [user('a')] })
    expect([requests, answer.choices[0]?.message.content]).toEqual([2, 'One.'])
    expect(edge.model.requests).toHaveLength(1)
  })

  it.each([
    [true, 'cancelled'],
    [false, 'open'],
  ])('with a key that cancels on disconnect (%s) leaves a turn %s', async (cancels, outcome) => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-keys-'))
    const apiKeys = join(folder, 'keys.json')
    const entry = { name: 'a', tenant: 'acme', roles: ['ask' as const] }
    const apiKey = createApiKey(apiKeys, { ...entry, cancelsOnDisconnect: cancels })
    await using edge = await edgeServer([silent('Wait'), says('Next.')], { access: { apiKeys } })
    const stream = await new OpenAI({ apiKey, baseURL: `${edge.url}/v1` }).chat.completions.create(
      { model, messages: [user('a')], stream: true },
      { headers: { 'x-weir-conversation': 'c' } },
    )
    for await (const { choices } of stream) if (choices[0]?.delta.content === 'Wait') break
    const conversation = edge.weir.conversation('acme:c')
    if (cancels)
      for await (const { type } of conversation.events()) if (type === 'turn-finished') break
    const [turn] = await conversation.turns()
    expect(turn?.end?.outcome ?? 'open').toBe(outcome)
    rmSync(folder, { recursive: true })
  })

  it('refuses a key that had another message', async () => {
    await using edge = await edgeServer([says('One.')])
    const send = (text: string) =>
      post(
        `${edge.url}/v1/chat/completions`,
        { model, messages: [user(text)] },
        { 'idempotency-key': 'k' },
      )
    expect((await send('a')).status).toBe(200)
    expect((await send('b')).status).toBe(422)
  })

  it('answers with the fallback of a turn that fails', async () => {
    await using edge = await edgeServer([fails(400, 'no')])
    const answer = await clientOf(edge.url).chat.completions.create({
      model,
      messages: [user('a')],
    })
    expect(answer.choices[0]?.message.content).not.toBe('')
  })

  it.each([
    [{ model: 'weir/helpr', messages: [user('a')] }, 404, /did you mean weir\/helper/],
    [{ model, messages: 'a' }, 400, /messages must be a list/],
    [{ model, messages: [] }, 400, /the last of messages/],
    [{ model, messages: [user('a')], tools: [{}] }, 400, /tools\[0\] is not offered/],
    [{ model, messages: [user('a')], n: 2 }, 400, /n: 2 is not offered/],
    [{ model, messages: [user('a')], store: false }, 400, /store: false is not offered/],
    [
      { model, messages: [{ role: 'tool', content: 'x' }, user('a')] },
      400,
      /messages\[0\]\.tool_call_id/,
    ],
    [{ model, messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 400, /data URL/],
    [{ model, messages: [{ role: 'user', content: [{ type: 'x' }] }] }, 400, /other parts/],
    [{ model, messages: [user('')] }, 400, /text/],
  ])('refuses %j with status %d', async (body, status, text) => {
    await using edge = await edgeServer([])
    const response = await post(`${edge.url}/v1/chat/completions`, body)
    const { error } = (await response.json()) as { error: { message: string } }
    expect([response.status, error.message]).toEqual([status, expect.stringMatching(text)])
  })
})
