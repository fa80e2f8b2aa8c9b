// The status lines of bubblewrap: the process group of the program, and whether the program ran.

import type { Readable } from 'node:stream'

export type SandboxStatus = {
  /**
   * Calls `use` with the process group of the program, as this machine counts, at once or when the
   * program runs. It is valid until the started process ends.
   */
  onGroup(use: (group: number) => void): void
  /** Whether the program was started and has ended. */
  hasRun(): boolean
}

/** Two short lines are all that bubblewrap writes. */
const bytesMax = 4096

export function sandboxStatus(stream: Readable): SandboxStatus {
  let text = ''
  const waiting: ((group: number) => void)[] = []
  const group = (): number | undefined => {
    const [, pid] = /"child-pid": (\d+)\D/.exec(text) ?? []
    return pid === undefined ? undefined : Number(pid)
  }
  stream.on('error', () => {})
  stream.on('data', (chunk: Buffer) => {
    if (text.length < bytesMax) text += chunk.toString('latin1')
    const known = group()
    if (known !== undefined) for (const use of waiting.splice(0)) use(known)
  })
  return {
    onGroup(use) {
      const known = group()
      if (known === undefined) waiting.push(use)
      else use(known)
    },
    hasRun: () => /"exit-code": \d+/.test(text),
  }
}
