// The error of a server that cannot listen, with the reason in words.

import { WeirError } from './errors.ts'

/** `server`: its name for the user. `advice`: the flags that set the address. */
export function listenFailure(
  cause: unknown,
  { server, host, port, advice }: { server: string; host: string; port: number; advice: string },
): WeirError {
  const { code = '', message } = cause as NodeJS.ErrnoException
  return new WeirError(
    'settings.invalid',
    `${server} cannot listen on ${host}, port ${port}: ${reasons[code] ?? message}; ${advice}`,
    { cause },
  )
}

const reasons: Record<string, string> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user lacks the permission',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host is unknown',
}
