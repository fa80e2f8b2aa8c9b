// The model server of the proxy's bench, as its own process. It streams Messages with one event for
// each write, and pauses between two writes as a model does. Options: a JSON object on the
// command line. Prints its URL.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** `firstMs`: the time to the first byte. `pauseMs`: between two events; 0: the next turn of the loop. */
export type ProxyServerOptions = { events: number; firstMs: number; pauseMs: number }

const { events, firstMs, pauseMs } = JSON.parse(process.argv[2] ?? '') as ProxyServerOptions
const stream = [
  {
    type: 'message_start',
    message: { id: 'msg', type: 'message', role: 'assistant', content: [] },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...Array.from({ length: events }, (_, n) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: ` word${n}` },
  })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: events } },
  { type: 'message_stop' },
].map((event) => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))

const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  for await (const _ of request);
  if (firstMs > 0) await sleep(firstMs)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of stream) {
    response.write(event)
    await (pauseMs > 0 ? sleep(pauseMs) : new Promise(setImmediate))
  }
  response.end()
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
// The starter holds the other end: this process must not outlive it.
process.stdin.on('end', () => process.exit()).resume()
