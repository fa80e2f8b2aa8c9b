// The address of a server of fronts, from the flags of a command.

import { usageError } from '../../shared/lib/errors.ts'
import { printable } from '../terminal/text/printable.ts'
import { isLoopback } from './server.ts'

/**
 * The server has no authentication: another machine could decide for any guest. `flag`: the one that
 * sets the host. Throws `usage` for an address that other machines reach.
 */
export function refuseOpenAddress(
  host: string,
  { flag, allowRemote = false }: { flag: string; allowRemote?: boolean | undefined },
): void {
  if (isLoopback(host) || allowRemote) return
  throw usageError(
    `${flag} ${printable(host)} is open to other machines, and the server asks for no key: give 127.0.0.1, or --allow-remote if only your agents can reach this address`,
  )
}
