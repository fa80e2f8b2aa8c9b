// The other side of the executor's bench: a server, an echo process, or a module. Each answers with
// the arguments.

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
