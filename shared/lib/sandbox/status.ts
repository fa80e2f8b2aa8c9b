// The status lines of bubblewrap: the process group of the program, and whether the program ran.

import type { Readable } from 'node:stream'

export type SandboxStatus = {
  /**
   * The process group of the program, as this machine counts. It is valid until the started process
   * ends. Undefined: the program does not run yet.
   */
  group(): number | undefined
  /** Whether the program was started and has ended. */
  hasRun(): boolean
}

/** Two short lines are all that bubblewrap writes. */
const bytesMax = 4096

export function sandboxStatus(stream: Readable): SandboxStatus {
  let text = ''
  stream.on('error', () => {})
  stream.on('data', (chunk: Buffer) => {
    if (text.length < bytesMax) text += chunk.toString('latin1')
  })
  return {
    group() {
      const [, pid] = /"child-pid": (\d+)/.exec(text) ?? []
      return pid === undefined ? undefined : Number(pid)
    },
    hasRun: () => /"exit-code": \d+/.test(text),
  }
}
