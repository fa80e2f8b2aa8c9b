// The tool kind `http`: one POST for each call, with the arguments as its body. The answer's body
// is the result, and its status the status of the call. Connections are kept for later calls. Not
// Node's `fetch`: it ends after five minutes without a byte, even if the tool's timeout is longer.
// It also hides whether a request has left this machine, and is slower (test/bench/executor.ts).
// A request that was sent may take effect, also if its connection breaks; one that was not
// sent never does. The result tells which.
// Nothing is sent twice: no retry, no redirect. The agent file decides where calls go.
// Memory, time and read bytes are bounded, for any server.

import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { urlToHttpOptions } from 'node:url'
import type { HttpTool } from '../../agents/agents.ts'
import { keepBeginning, keptBytes, type Output } from '../kept-output.ts'
import type { RunningTool, StartTool, ToolCall, ToolEnding } from '../tool.ts'
import { type Cause, neverStarted, stopped, stoppedBefore } from '../tool-endings.ts'
import {
  answered,
  broken,
  notAnswered,
  notConnected,
  notSendable,
  redirected,
  toolResponseBytesMax,
  unreachable,
} from './http-ending.ts'

/**
 * How long a connection to a tool's server is kept for the next call. Many servers close an idle
 * one after 5 seconds.
 */
const toolConnectionIdleMs = 4_000

/** The parts that all calls of a tool share. */
type Prepared = {
  run: HttpTool
  url: URL
  options: https.RequestOptions
  headers: string[]
}
type Sent = { prepared: Prepared; call: ToolCall; request: ClientRequest }

/** Keeps its own connections, which all tools of one process share. */
export function httpTools(): StartTool<HttpTool> {
  const options = { keepAlive: true, timeout: toolConnectionIdleMs }
  const agents = { http: new http.Agent(options), https: new https.Agent(options) }
  const known = new WeakMap<HttpTool, Prepared>()

  function prepare(run: HttpTool): Prepared {
    const url = new URL(run.url)
    const agent = url.protocol === 'https:' ? agents.https : agents.http
    const options = { ...urlToHttpOptions(url), agent, method: 'POST' }
    const prepared = {
      run,
      url,
      options,
      headers: headersOf(run, url),
    }
    known.set(run, prepared)
    return prepared
  }

  return (run, call) => {
    try {
      const prepared = known.get(run) ?? prepare(run)
      const { request } = prepared.url.protocol === 'https:' ? https : http
      const headers = [...prepared.headers, ...headersOfCall(call)]
      return follow({ prepared, call, request: request({ ...prepared.options, headers }) })
    } catch (error) {
      return neverStarted(notSendable(error))
    }
  }
}

function follow({ prepared, call, request }: Sent): RunningTool {
  const { run, url } = prepared
  const started = Promise.withResolvers<boolean>()
  const ended = Promise.withResolvers<ToolEnding>()
  let answer: { message: IncomingMessage; body: () => Output } | undefined
  let isSent = false
  let isOver = false

  onceConnected(request, url, () => {
    if (isOver) return
    isSent = true
    started.resolve(true)
  })
  request.once('response', receive)
  request.on('error', fail)
  request.once('close', () => answer === undefined && fail({ code: 'ECONNRESET' }))
  const cancelTimer = call.clock.after(call.timeoutMs, () =>
    end({ kind: 'timeout', timeoutMs: call.timeoutMs }),
  )
  request.end(call.arguments)

  return {
    started: started.promise,
    ended: ended.promise,
    stop: (_graceMs, why) => end({ kind: 'stop', why }), // a server gets no stop signal, so there is no grace
  }

  function receive(message: IncomingMessage): void {
    const status = message.statusCode ?? 0
    if (status >= 300 && status < 400)
      return finish(redirected({ status, url, location: message.headers.location }))
    const body = keepBeginning(message, keptBytes(run.outputBytesMax))
    let bytes = 0
    answer = { message, body }
    message.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > toolResponseBytesMax) finish(answered({ status, body: body(), isWhole: false }))
    })
    message.once('end', () => finish(answered({ status, body: body(), isWhole: true })))
    message.once('close', () => fail({ code: 'ECONNRESET' }))
  }

  function fail({ code = 'unknown' }: NodeJS.ErrnoException | { code: string }): void {
    if (isSent) finish(broken({ code, status: answer?.message.statusCode, body: answer?.body() }))
    else finish(unreachable({ code, url }))
  }

  function end(cause: Extract<Cause, { kind: 'timeout' | 'stop' }>): void {
    const body = answer?.body()
    if (cause.kind === 'timeout')
      finish(isSent ? notAnswered({ ...cause, body }) : notConnected({ ...cause, url }))
    else finish(isSent ? stopped(cause.why) : stoppedBefore(cause.why))
  }

  function finish(ending: ToolEnding): void {
    if (isOver) return
    isOver = true
    cancelTimer()
    started.resolve(false)
    // Keep a connection only if no byte of this call can still arrive or leave on it.
    if (!(answer?.message.complete && request.writableFinished)) request.destroy()
    ended.resolve(ending)
  }
}

/** From then on the request is on its way and cannot be revoked. */
function onceConnected(request: ClientRequest, { protocol }: URL, act: () => void): void {
  request.once('socket', (socket) => {
    if (request.reusedSocket) act()
    else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', act)
  })
}

/** Weir sets the headers for the body's format, the connection and the call's identity. */
const reserved = new Set([
  'connection',
  'content-length',
  'expect',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * As a list of names and values, which Node accepts directly. Setting them one by one costs more
 * than the rest of a call.
 */
function headersOf({ headers }: HttpTool, { host, username, password }: URL): string[] {
  const given = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value.trim(),
  ])
  const all = {
    host,
    ...(username === '' && password === '' ? {} : { authorization: basic(username, password) }),
    'user-agent': 'weir',
    ...Object.fromEntries(given.filter(([name]) => !reserved.has(name))),
    'accept-encoding': 'identity', // the result is the raw body
    'content-type': 'application/json',
  }
  return Object.entries(all).flat()
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`
}

function headersOfCall(call: ToolCall): string[] {
  return [
    'content-length',
    String(Buffer.byteLength(call.arguments)),
    'idempotency-key',
    asciiOf(call.idempotencyKey),
    ...(call.traceparent === undefined ? [] : ['traceparent', call.traceparent]),
  ]
}

/** The key is JSON text. Escaping the characters that a header cannot carry keeps its meaning. */
function asciiOf(key: string): string {
  return key.replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
