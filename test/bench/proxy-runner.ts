// The process between client and model server in the proxy's bench: Weir's proxy, or a plain pipe, the
// least that a proxy can do. Options: a JSON object on the command line. Prints its URL.

import http, { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { hostSessions } from '../../apps/http/fronts/hooks/host-sessions.ts'
import { createProxy } from '../../apps/http/fronts/proxy/proxy.ts'
import { upstreamAt } from '../../apps/http/fronts/proxy/upstream.ts'
import { startHttpServer } from '../../apps/http/server.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { scriptedGuard } from '../apps/http/scripted-guard.ts'

export type ProxyRunnerOptions = { kind: 'pipe' | 'weir' | 'veto'; upstream: string }

const { kind, upstream } = JSON.parse(process.argv[2] ?? '') as ProxyRunnerOptions
process.stdout.write(`${kind === 'pipe' ? await pipe() : await weir()}\n`)
process.stdin.on('end', () => process.exit()).resume()

async function pipe(): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers } = incoming
    const sent = http.request(upstream + incoming.url, { method, headers }, (received) => {
      outgoing.writeHead(received.statusCode ?? 502, received.headers)
      outgoing.flushHeaders()
      received.pipe(outgoing)
    })
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function weir(): Promise<string> {
  const log = pino({ level: 'silent' })
  const guard = scriptedGuard()
  guard.asked.push = () => 0 // keeps nothing
  const proxy = createProxy({
    upstream: upstreamAt(upstream),
    conversationOf: async (_, { conversation }) => guard.conversation(conversation),
    sessions: hostSessions(systemClock),
    agent: 'main',
    veto: kind === 'veto' ? { coversSubscriptions: true } : undefined,
    fallback: '',
    log,
  })
  return (await startHttpServer({ host: '127.0.0.1', port: 0, log, routes: [proxy.routes] })).url
}
