// The value of --port, or of another flag for a port.

import { usageError } from '../../shared/lib/errors.ts'

/** 0: any free port. Throws `usage`. */
export function portOf(text: string, flag = '--port'): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw usageError(`${flag} is ${JSON.stringify(text)}: give a whole number from 0 to 65535`)
}
