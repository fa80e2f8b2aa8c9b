// What the executor's bench talks to: a server, a process that sends back what it gets, or a
// module, all of which answer with the arguments.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const [, , as] = process.argv

if (as === 'serve') {
  const server = createServer((request, response) => request.pipe(response))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}
if (as === 'echo')
  process.on('message', (message: { arguments: string }) =>
    process.send?.(JSON.stringify(JSON.parse(message.arguments))),
  )

export default async (args: unknown) => args
