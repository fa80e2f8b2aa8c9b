// The three streams of a command. Tests pass other streams.

import type { Readable } from 'node:stream'

export type Streams = {
  input: Readable & { isTTY?: boolean }
  out: NodeJS.WriteStream
  errors: NodeJS.WriteStream
}

export function processStreams(): Streams {
  return { input: process.stdin, out: process.stdout, errors: process.stderr }
}
