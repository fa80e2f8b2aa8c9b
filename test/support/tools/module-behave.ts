// A module for tests that behaves as its argument `how` demands. Output that a test waits for while a
// call runs goes into the file `copy`.

import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, writeSync } from 'node:fs'

type Arguments = { how: string; copy?: string; size?: number; lines?: string[] }
type Context = { idempotencyKey: string; signal: AbortSignal }

/** The pipe may be full: it takes a part, or nothing. */
function writeWhole(fd: number, text: string): void {
  for (let rest = text; rest !== ''; )
    try {
      rest = rest.slice(writeSync(fd, rest)) // ASCII
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
}

let calls = 0
const kept: Buffer[] = []

export default async function behave(
  args: Arguments,
  { idempotencyKey, signal }: Context,
): Promise<unknown> {
  calls += 1
  const say = (text: string) => {
    if (args.copy !== undefined) appendFileSync(args.copy, text)
  }
  switch (args.how) {
    case 'echo':
      return args
    case 'key':
      return idempotencyKey
    case 'nothing':
      return undefined
    case 'environment':
      return process.env
    case 'text':
      return 'é'.repeat(args.size ?? 0)
    case 'half a character':
      return 'a\ud83d'
    case 'pid':
      return `${process.pid} ${calls}`
    case 'print':
      console.log('to the output')
      console.error('to the error output')
      return 'printed'
    case 'print much':
      for (let line = 0; line < 20_000; line += 1) console.log(`line ${line} é`)
      return 'printed much'
    case 'send':
      return String(process.send)
    case 'throw':
      throw new TypeError('no such row')
    case 'throw late':
      await new Promise((resolve) => setTimeout(resolve, 1))
      throw new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') })
    case 'throw a text':
      // biome-ignore lint/style/useThrowOnlyError: tools of others do it
      throw 'just a text'
    case 'throw nonsense':
      throw new Proxy(new Error(), {
        get() {
          throw new Error('do not look')
        },
      })
    case 'no json':
      return { big: 1n }
    case 'cycle': {
      const cycle: Record<string, unknown> = {}
      cycle.self = cycle
      return cycle
    }
    case 'function':
      return () => {}
    case 'exit':
      process.exit(args.size)
      break
    case 'exit with words':
      writeSync(2, '/some/file.js:3\nError: quota exceeded\n')
      process.exit(1)
      break
    case 'signal':
      process.kill(process.pid, 'SIGKILL')
      return new Promise(() => {})
    case 'uncaught':
      setTimeout(() => {
        throw new RangeError('thrown where nobody catches')
      })
      return new Promise(() => {})
    case 'unhandled':
      void Promise.reject(new RangeError('rejected where nobody handles'))
      return new Promise(() => {})
    case 'write on the channel': {
      for (const line of args.lines ?? []) writeWhole(3, line)
      return new Promise(() => {})
    }
    case 'flood the channel':
      for (;;) writeWhole(3, 'x'.repeat(65_536))
    case 'disconnect':
      closeSync(3)
      setInterval(() => {}, 1_000)
      return new Promise(() => {})
    case 'out of memory': {
      const all: number[][] = []
      for (;;) all.push(new Array(1_000_000).fill(all.length))
    }
    case 'grow':
      kept.push(Buffer.alloc(args.size ?? 0, 1))
      return `${process.pid}`
    case 'loop':
      say(String(process.pid))
      for (;;);
    case 'tree':
      say(
        `${process.pid} ${spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }).pid}.`,
      )
      return new Promise(() => {})
    case 'hang':
      say('ready')
      return new Promise(() => {})
    case 'polite': // finishes its work after an abort
      say('ready')
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('finished')))
    case 'obedient':
      say('ready')
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    default:
      throw new Error(`cannot behave as ${args.how}`)
  }
}
