// Answers that are written to Node's response. Hono's way makes a Response of the web, with its Headers
// and streams, and costs several times as much.
// A middleware that adds a header to such answers sets it on Node's response, before
// the route runs.

import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { HttpContext } from './server.ts'

export type Outgoing = Pick<
  ServerResponse,
  'write' | 'end' | 'on' | 'off' | 'writableNeedDrain' | 'destroyed'
> & {
  writeHead(status: number, headers: Record<string, string | number>): unknown
  req: { method?: string | undefined }
}

/**
 * A route returns it after its own answer. The copy is a Response of Node. The original is one of
 * @hono/node-server's own if the program called its `serve` before, and such a Response is written again.
 */
export const alreadySent: Response = RESPONSE_ALREADY_SENT.clone()

export type JsonAnswer = { status?: number; headers?: Record<string, string> }

export function answerJson(
  { env: { outgoing } }: HttpContext,
  value: unknown,
  { status = 200, headers = {} }: JsonAnswer = {},
): Response {
  const text = JSON.stringify(value)
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  outgoing.end(text)
  return alreadySent
}
