// A part of a Kafka bench as its own process with its own CPU time. The file gets its options as
// JSON on its command line, prints lines of JSON, and exits at the end of its standard input.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type Child = {
  pid: number
  /** The next line of its output. Rejects if it exits without one. */
  line(): Promise<string>
  /** The content of the next line. */
  message<T>(): Promise<T>
  /** Ends the child. Rejects if it fails. */
  end(): Promise<void>
}

export function startChild(url: URL, options: object): Child {
  const path = fileURLToPath(url)
  const child = spawn(process.execPath, [...process.execArgv, path, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const closed = once(child, 'close')
  child.stdin.on('error', () => {}) // it may have exited already

  async function line(): Promise<string> {
    const { value, done } = await lines.next()
    if (!done) return value
    const [code, signal] = await closed
    throw new Error(
      `${path} ended with ${code ?? signal} and without output: ${JSON.stringify(options)}`,
    )
  }

  return {
    pid: child.pid ?? 0,
    line,
    async message<T>() {
      return JSON.parse(await line()) as T
    },
    async end() {
      child.stdin.end()
      const [code, signal] = await closed
      if (code !== 0)
        throw new Error(`${path} ended with ${code ?? signal}: ${JSON.stringify(options)}`)
    },
  }
}

/** In the child: sends a line to its parent. */
export function send(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/** In the child: resolves when its parent ends it or has exited. */
export async function untilParentEnds(): Promise<void> {
  await once(process.stdin.resume(), 'end')
}

/** In the child. */
export function optionsOfParent<T>(): T {
  return JSON.parse(process.argv[2] ?? '') as T
}
