// A server that begins to listen, and the error of one that cannot, with the reason in words.

import { once } from 'node:events'
import type { Server } from 'node:http'
import { WeirError } from './errors.ts'

/** `name`: of the server, for the user. `advice`: the flags that set the address. */
export type ListenOptions = { name: string; host: string; port: number; advice: string }

/** Resolves when the server listens. Throws `settings.invalid`. */
export async function listening(server: Server, options: ListenOptions): Promise<void> {
  try {
    await once(server.listen(options.port, options.host), 'listening')
  } catch (cause) {
    throw listenFailure(cause, options)
  }
  server.on('error', () => {}) // a single connection could not be accepted
}

/** Ends its connections and resolves when the server is closed. */
export async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

function listenFailure(cause: unknown, { name, host, port, advice }: ListenOptions): WeirError {
  const { code = '', message } = cause as NodeJS.ErrnoException
  return new WeirError(
    'settings.invalid',
    `${name} cannot listen on ${host}, port ${port}: ${reasons[code] ?? message}; ${advice}`,
    { cause },
  )
}

const reasons: Record<string, string> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user lacks the permission',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host is unknown',
}
