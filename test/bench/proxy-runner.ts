// The process between client and model server in the proxy's benches: the server of `weir proxy`, or a
// plain pipe, the least that a proxy can do. Options: a JSON object on the command line. Prints its
// URL.

import http, { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startFrontServer } from '../../apps/http/front-server.ts'
import { openFronts } from '../../client/guard/log/fronts.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { readSettings } from '../../shared/settings/settings.ts'

/** `dataFolder`: the proxy's log. Undefined: it is in memory. */
export type ProxyRunnerOptions = {
  kind: 'pipe' | 'weir' | 'veto'
  upstream: string
  dataFolder?: string
}

const { kind, upstream, dataFolder } = JSON.parse(process.argv[2] ?? '') as ProxyRunnerOptions
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
  const log = createLog({ level: 'error', secrets: [] })
  const settings = readSettings(dataFolder === undefined ? {} : { dataFolder }, {})
  const place = { kind: dataFolder === undefined ? 'memory' : 'folder', settings } as const
  const { url } = await startFrontServer({
    fronts: await openFronts(place, { secrets: [], log }),
    host: '127.0.0.1',
    port: 0,
    agent: 'main',
    upstream,
    veto: kind === 'veto' ? { coversSubscriptions: true } : undefined,
    log,
  })
  return url
}
