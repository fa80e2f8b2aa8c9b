// Requests of the web for routes that write to Node's response: the pace of the reader, and a client
// that leaves.

import { getEventListeners } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import { Hono } from 'hono'
import { alreadySent } from '../../../../apps/http/direct-answer.ts'
import { bytesOf } from '../../../../apps/http/request-body.ts'
import { webAnswer } from '../../../../apps/http/serve/web-answer.ts'
import type { HttpApp, HttpContext } from '../../../../apps/http/server.ts'

type Outgoing = HttpContext['env']['outgoing']

/** An app with one route, which gets Node's response. */
function appWith(route: (http: HttpContext) => Response | Promise<Response>): HttpApp {
  const app: HttpApp = new Hono()
  app.all('/', route)
  return app
}

/** Begins an answer, and keeps its response. */
async function begun(request = new Request('http://a.example/')) {
  let outgoing: Outgoing | undefined
  const app = appWith((http) => {
    outgoing = http.env.outgoing
    outgoing.setHeader('x-first', '1')
    outgoing.writeHead(201, { 'content-type': 'text/plain' })
    return alreadySent
  })
  const answer = await webAnswer(app, request)
  if (outgoing === undefined) throw new Error('the route was not reached')
  return { answer, outgoing }
}

const closed = (outgoing: Outgoing) =>
  new Promise<boolean>((resolve) =>
    outgoing.once('close', () => resolve(outgoing.writableFinished)),
  )

describe('an answer to a request of the web', () => {
  it('has the status, the headers and the pieces that the route wrote', async () => {
    const { answer, outgoing } = await begun()
    outgoing.write('one ')
    outgoing.end('two')
    expect(answer.status).toBe(201)
    expect(Object.fromEntries(answer.headers)).toEqual({
      'content-type': 'text/plain',
      'x-first': '1',
    })
    expect(await answer.text()).toBe('one two')
  })

  it('holds the writer until the reader has read', async () => {
    const { answer, outgoing } = await begun()
    const piece = 'x'.repeat(16 * 1024)
    let written = 0
    while (outgoing.write(piece)) {
      written += 1
      await new Promise(setImmediate)
      if (written > 64) throw new Error('the writer is never held')
    }
    let isDrained = false
    outgoing.once('drain', () => {
      isDrained = true
    })
    await new Promise(setImmediate)
    expect(isDrained).toBe(false)
    const reader = answer.body?.getReader()
    while (!isDrained) await reader?.read()
    await reader?.cancel()
  })

  it('tells the route that a client cancelled the answer', async () => {
    const { answer, outgoing } = await begun()
    const isFinished = closed(outgoing)
    await answer.body?.cancel()
    expect(await isFinished).toBe(false)
  })

  it('tells the route that a client aborted its request', async () => {
    const leaving = new AbortController()
    const { outgoing } = await begun(new Request('http://a.example/', { signal: leaving.signal }))
    const isFinished = closed(outgoing)
    leaving.abort()
    expect(await isFinished).toBe(false)
  })

  it('has no body for HEAD', async () => {
    const { answer, outgoing } = await begun(new Request('http://a.example/', { method: 'HEAD' }))
    outgoing.end('text')
    expect(answer.body).toBe(null)
    expect(await closed(outgoing)).toBe(true)
  })

  it('has the headers that were set before a route with its own answer', async () => {
    const app = appWith((http) => {
      http.env.outgoing.setHeader('cache-control', 'no-store')
      return http.json({ ok: true }, 403, { 'x-own': '1' })
    })
    const answer = await webAnswer(app, new Request('http://a.example/'))
    expect(answer.status).toBe(403)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-own')).toBe('1')
    expect(await answer.json()).toEqual({ ok: true })
  })

  it('closes the response of a route with its own answer, and leaves the signal of the request', async () => {
    const leaving = new AbortController()
    const closes = Promise.withResolvers<void>()
    const app = appWith((http) => {
      http.env.outgoing.once('close', () => closes.resolve())
      return http.text('whole')
    })
    const request = new Request('http://a.example/', { signal: leaving.signal })
    const answer = await webAnswer(app, request)
    await closes.promise
    expect(await answer.text()).toBe('whole')
    expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
  })

  it('gives the route the bytes of the body and its host', async () => {
    const app = appWith(async (http) => {
      const { incoming } = http.env
      const bytes = await bytesOf(incoming, 100)
      return http.text(`${incoming.headers.host} ${bytes.toString('utf8')}`)
    })
    const body = new ReadableStream({
      start(controller) {
        for (const text of ['gr', 'üß']) controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      },
    })
    const request = new Request('http://a.example/', {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit)
    expect(await (await webAnswer(app, request)).text()).toBe('a.example grüß')
  })
})
