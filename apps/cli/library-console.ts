// The console of a command. The SDK of MCP prints warnings there, with names that a server chose, and
// some of them on standard output. In a command they go to standard error, in printable form.

import { format } from 'node:util'
import { printable } from '../terminal/text/printable.ts'

/** Lines of other code of this process, such as a guard, stay as they are. */
const ofSdk = /^(?:\[mcp-sdk\] |Client\.\w+\(\) called but )/

export function keepLibrariesPrintable(): void {
  for (const method of ['debug', 'warn'] as const) {
    const print = console[method]
    console[method] = (...values: unknown[]) => {
      if (typeof values[0] !== 'string' || !ofSdk.test(values[0])) return print(...values)
      process.stderr.write(`${printable(format(...values))}\n`)
    }
  }
}
