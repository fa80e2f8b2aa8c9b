// The HTTP tools: a server that notes each start before all other work, as the other tools do.

import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { contentMark } from './content-mark.ts'

export type ToolServer = { url: string; close(): Promise<void> }

/** The header that names the calling process. Agent files fill it from the environment. */
export const processHeader = 'x-chaos-process'

export async function startToolServer(startsFile: string): Promise<ToolServer> {
  let starts = 0
  const closing = new AbortController()
  const server = createServer((request, response) => {
    const at = Date.now()
    starts += 1
    const start = `http-${at}-${starts}`
    const call = JSON.parse(String(request.headers['idempotency-key'])) as unknown
    const line = {
      event: 'start',
      call,
      tool: request.url,
      process: request.headers[processHeader],
      start,
      at,
    }
    appendFileSync(startsFile, `${JSON.stringify(line)}\n`)
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      const { sleepMs = 0, fail = false } = JSON.parse(body) as { sleepMs?: number; fail?: boolean }
      const answer = () => {
        appendFileSync(startsFile, `${JSON.stringify({ event: 'end', start, at: Date.now() })}\n`)
        response.writeHead(fail ? 503 : 200, { 'content-type': 'application/json' })
        response.end(
          fail ? '{"error":"the till is closed"}' : JSON.stringify({ start, of: contentMark }),
        )
      }
      // A closed server answers no more: a late answer would write to a deleted folder.
      sleep(sleepMs, undefined, { signal: closing.signal }).then(answer, () => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        closing.abort()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
