// The native feed of the edge on a real server.

import { connect } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { sseResponse } from '../../../../apps/http/edge/sse.ts'
import { startHttpServer } from '../../../../apps/http/server.ts'
import { fakeClock, says } from '../../../../client/testing/testing.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { until } from '../../../support/inbox.ts'
import { contentsOf, dot, edgeServer, post, serverSentEvents } from './edge-server.ts'

describe('the native feed', () => {
  it('sends a message, and its events with their positions as ids', async () => {
    await using edge = await edgeServer([says('Hello.')])
    const sent = await post(`${edge.url}/v1/conversations/c1/messages`, { text: 'hi' })
    expect(sent.status).toBe(202)
    const { messageId } = (await sent.json()) as { messageId: string }
    const events = await untilFinished(await openedFeed(edge.url, 'c1'))
    const last = events.at(-1)
    expect(JSON.parse(last?.data ?? '')).toMatchObject({
      type: 'turn-finished',
      conversation: 'c1',
      messageId,
      reply: 'Hello.',
    })
    expect(events.every(({ id, data }) => id === JSON.parse(data).position)).toBe(true)
  })

  it('takes an equal message for a new one after a later one, and for the same before it', async () => {
    await using edge = await edgeServer([says('One.'), says('Two.'), says('Three.')])
    const base = `${edge.url}/v1/conversations/c`
    const ids: string[] = []
    for (const text of ['yes', 'yes', 'no', 'yes', 'yes']) {
      const { messageId } = (await (await post(`${base}/messages`, { text })).json()) as {
        messageId: string
      }
      ids.push(messageId)
      for await (const event of edge.weir.conversation('c').events())
        if (event.type === 'turn-finished' && event.messageId === messageId) break
    }
    expect(ids[1]).toBe(ids[0])
    expect(ids[4]).toBe(ids[3])
    expect(new Set(ids).size).toBe(3)
    expect(edge.model.requests.map(({ texts }) => texts.at(-1))).toEqual(['yes', 'no', 'yes'])
  })

  it('deletes a conversation for good, with the user of a message, and knows it no longer', async () => {
    await using edge = await edgeServer([says('Hello.')])
    const base = `${edge.url}/v1/conversations/c1`
    await post(`${base}/messages`, { text: 'hi', user: 'ann' })
    await untilFinished(await openedFeed(edge.url, 'c1'))
    expect(await edge.weir.forget({ user: 'ann', dryRun: true })).toMatchObject({
      conversations: ['c1'],
    })
    const deleted = await fetch(base, { method: 'DELETE' })
    expect([deleted.status, await deleted.json()]).toEqual([
      200,
      { records: expect.any(Number), isOverwritten: true, isUnreadable: true, until: null },
    ])
    const again = await fetch(base, { method: 'DELETE' })
    expect([again.status, await again.json()]).toEqual([
      404,
      expect.objectContaining({ error: expect.objectContaining({ code: 'conversation.unknown' }) }),
    ])
    expect((await fetch(`${base}/events`)).status).toBe(404)
  })

  it('sends the images and files of a message', async () => {
    await using edge = await edgeServer([says('Hello.')])
    const files = [{ name: 'notes.txt', data: Buffer.from('a note').toString('base64') }]
    const body = { text: 'hi', images: [dot], files }
    expect((await post(`${edge.url}/v1/conversations/c1/messages`, body)).status).toBe(202)
    await untilFinished(await openedFeed(edge.url, 'c1'))
    expect(await contentsOf(edge, 'c1')).toEqual(['image/png ', 'text/plain notes.txt'])
    for (const wrong of [{ images: dot }, { images: ['?'] }, { files: [{ data: dot }] }]) {
      const url = `${edge.url}/v1/conversations/c2/messages`
      expect((await post(url, { text: 'hi', ...wrong })).status).toBe(400)
    }
  })

  it('refuses lists with more members than it reads at once, before it reads them', async () => {
    await using edge = await edgeServer([])
    const url = `${edge.url}/v1/conversations/c1/messages`
    const errorOf = async (images: string[]) => {
      const answer = await post(url, { text: 'hi', images })
      return [answer.status, JSON.stringify(await answer.json())]
    }
    const many = await errorOf(new Array(limits.bodyMembersMax + 1).fill('?'))
    expect(many).toEqual([400, expect.stringContaining('more than 100000 members')])
    const some = await errorOf(new Array(limits.contentsMax + 1).fill('?'))
    expect(some).toEqual([400, expect.stringContaining('at most 16 together')])
  })

  it('continues after the event that Last-Event-ID names', async () => {
    await using edge = await edgeServer([says('Hello.')])
    await post(`${edge.url}/v1/conversations/c1/messages`, { text: 'hi' })
    const all = await untilFinished(await openedFeed(edge.url, 'c1'))
    for (const [at, { id = '' }] of all.slice(0, -1).entries()) {
      const rest = await untilFinished(await openedFeed(edge.url, 'c1', { 'last-event-id': id }))
      expect(rest.at(-1)).toEqual(all.at(-1))
      if (all[at]?.event !== 'text-delta') expect(rest.some((one) => one.id === id)).toBe(false)
    }
  })

  it('forks a conversation at a turn, and refuses a turn that it does not have', async () => {
    await using edge = await edgeServer([says('One.'), says('Two.')])
    const { turn } = await edge.weir.ask({ agent: 'helper', text: 'a', conversation: 'c' }).finished
    const forkOf = (id: string, body: object) =>
      post(`${edge.url}/v1/conversations/${id}/fork`, body)
    const response = await forkOf('c', { turn })
    expect(response.status).toBe(201)
    const { conversation } = (await response.json()) as { conversation: string }
    await edge.weir.ask({ agent: 'helper', text: 'b', conversation }).finished
    expect(edge.model.requests.at(-1)?.texts).toEqual(['a', 'One.', 'b'])
    const bad = [await forkOf('c', { turn: 'x' }), await forkOf('c', { turn: 9_999 })]
    const unknown = await forkOf('unknown', {})
    expect([...bad, unknown].map(({ status }) => status)).toEqual([400, 400, 404])
  })

  it('replaces the turns after a turn with a message', async () => {
    await using edge = await edgeServer([says('One.'), says('Two.'), says('Three.')])
    const ask = (text: string) =>
      edge.weir.ask({ agent: 'helper', text, conversation: 'c' }).finished
    const { turn } = await ask('a')
    await ask('b')
    const url = `${edge.url}/v1/conversations/c/messages`
    expect((await post(url, { text: 'x', afterTurn: 'a' })).status).toBe(400)
    expect((await post(url, { text: 'x', afterTurn: -2 })).status).toBe(400)
    expect((await post(url, { text: 'other', afterTurn: turn })).status).toBe(202)
    await ask('c').catch(() => {})
    expect(edge.model.requests[2]?.texts).toEqual(['a', 'One.', 'other'])
  })

  it('cancels without a body', async () => {
    await using edge = await edgeServer([says('Hello.')])
    await post(`${edge.url}/v1/conversations/c1/messages`, { text: 'hi' })
    await untilFinished(await openedFeed(edge.url, 'c1'))
    const url = `${edge.url}/v1/conversations/c1/cancel`
    expect((await fetch(url, { method: 'POST' })).status).toBe(202)
  })

  it('refuses a field that has no effect, and names the near one', async () => {
    await using edge = await edgeServer([says('Hello.')])
    const sent = await post(`${edge.url}/v1/conversations/c1/messages`, { text: 'hi', agnt: 'x' })
    expect(sent.status).toBe(400)
    expect(await sent.text()).toContain('unknown option agnt of the body; did you mean agent?')
  })

  it('refuses a position that no event has, so a browser does not try again for ever', async () => {
    await using edge = await edgeServer([says('Hello.')])
    await post(`${edge.url}/v1/conversations/c1/messages`, { text: 'hi' })
    const url = `${edge.url}/v1/conversations/c1/events`
    expect((await fetch(`${url}?after=abc`)).status).toBe(400)
    expect((await fetch(url, { headers: { 'last-event-id': '0 UNION' } })).status).toBe(400)
  })

  it('sends comments while nothing happens, and ends when the server closes', async () => {
    const clock = fakeClock(0)
    const edge = await edgeServer([says('Hello.')], { clock })
    await edge.weir.ask({ agent: 'helper', text: 'hi', conversation: 'c1' }).finished
    const response = await openedFeed(edge.url, 'c1')
    const reader = response.body?.getReader()
    let seen = ''
    const readUntil = async (text: string) => {
      while (!seen.includes(text)) {
        const piece = await reader?.read()
        if (piece?.done !== false) return
        seen += Buffer.from(piece.value).toString('utf8')
      }
    }
    await readUntil('turn-finished')
    clock.advance(20_000)
    await readUntil(': ping')
    await edge[Symbol.asyncDispose]()
    expect((await reader?.read())?.done).toBe(true)
  })

  it('reads no further than a client that does not read', async () => {
    const log = pino({ level: 'silent' })
    const piece = 'x'.repeat(64 * 1024)
    let sent = 0
    const events = (async function* () {
      for (;;) {
        sent += 1
        yield { data: piece }
      }
    })()
    const closing = new AbortController()
    const context = { clock: fakeClock(0), closing: closing.signal, log }
    const server = await startHttpServer({
      host: '127.0.0.1',
      port: 0,
      log,
      routes: [
        (app) =>
          app.get('/feed', ({ env }) =>
            sseResponse(context, env.outgoing, { items: events, eventsOf: (event) => [event] }),
          ),
      ],
    })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`GET /feed HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n\r\n`)
    const untilStill = async () => {
      for (let before = -1; before !== sent; await new Promise((go) => setTimeout(go, 300)))
        before = sent
      return sent
    }
    await until(async () => sent > 0)
    const still = await untilStill()
    expect(still * piece.length).toBeLessThan(32 * 1024 * 1024) // the buffers of both sockets
    socket.resume()
    await until(async () => sent > still + 1_000)
    socket.destroy()
    closing.abort()
    await server.close()
  })

  it('answers HEAD with its headers only', async () => {
    await using edge = await edgeServer([says('Hello.')])
    await edge.weir.ask({ agent: 'helper', text: 'hi', conversation: 'c1' }).finished
    const url = `${edge.url}/v1/conversations/c1/events`
    const response = await fetch(url, { method: 'HEAD' })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await response.text()).toBe('')
  })

  it('knows no conversation without a turn', async () => {
    await using edge = await edgeServer([])
    const response = await fetch(`${edge.url}/v1/conversations/none/events`)
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining({ error: expect.objectContaining({ code: 'conversation.unknown' }) }),
    ])
  })
})

/** A message whose turn has not begun has no feed yet. */
async function openedFeed(url: string, id: string, headers = {}): Promise<Response> {
  const feed = () => fetch(`${url}/v1/conversations/${id}/events`, { headers })
  let response = await feed()
  await until(async () => {
    if (response.status === 200) return true
    await response.body?.cancel()
    response = await feed()
    return false
  })
  return response
}

async function untilFinished(response: Response) {
  const events: Awaited<ReturnType<ReturnType<typeof serverSentEvents>['next']>>['value'][] = []
  for await (const event of serverSentEvents(response)) {
    events.push(event)
    if (event.event === 'turn-finished') break
  }
  return events
}
