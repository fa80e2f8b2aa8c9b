// The process of a module tool. Loads the module once, then calls its function, one call at a time,
// as its parent requests over a pipe of lines. It is a separate program, which
// module-process.ts starts.
// It sends one answer to each call, and one when loading is over. It reports a
// crash in between if it still can.
// It ends with its parent, together with all that the module started, also in an
// endless loop: a thread holds a pipe that breaks when the parent ends.
// The pipe has lines of JSON, which the parent bounds and checks (module-answer.ts).
// Not the IPC channel of Node: a line that a module writes there can end the parent.

import { once } from 'node:events'
import { Socket } from 'node:net'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { messageLines } from '../message-lines.ts'
import { described, type FunctionOutcome, functionOutcome } from './function-outcome.ts'

export type Request =
  /** `context`: JSON text. */
  | {
      type: 'call'
      arguments: string
      idempotencyKey: string
      context?: string
      textBytesMax: number
    }
  | { type: 'abort' }

/** `memoryBytes`: the memory of the process after the call. */
export type Answer =
  | { type: 'loaded' }
  | { type: 'not-loaded'; code: string; stack: string }
  | (FunctionOutcome & { memoryBytes: number })

type ModuleFunction = (
  args: unknown,
  call: { idempotencyKey: string; signal: AbortSignal; context: unknown },
) => unknown

/** The descriptors of the pipe with the lines, and of the pipe that ends with the parent. */
const channelFd = 3
const lifeline = 4
const watch = `
  new (require('node:net').Socket)({ fd: ${lifeline} })
    .on('error', () => {})
    .on('close', () => process.kill(0, 'SIGKILL'))
    .resume()`

const [, , file = '', network = '', kind, entry = ''] = process.argv
const channel = new Socket({ fd: channelFd, readable: true, writable: true })
channel.on('error', () => {}) // the lifeline ends this process
channel.unref() // a module that waits for nothing ends while it loads

// Weir.open refuses to open here (client/weir.ts).
Reflect.set(globalThis, Symbol.for('weir-agents.tool-process'), true)

let state: 'loading' | 'idle' | 'calling' = 'loading'
let controller: AbortController | undefined

function answer(value: Answer, then = () => {}): void {
  channel.write(`${JSON.stringify(value)}\n`, then)
}

async function load(): Promise<ModuleFunction> {
  const exports: Record<string, unknown> = await import(pathToFileURL(file).href)
  if (kind === 'defined') return definedIn(exports, entry)
  if (kind === 'export') return exportedIn(exports, entry)
  const exported = exports.default as { default?: unknown } | null | undefined
  // CommonJS compiled from a module has its default inside of the default.
  const found: unknown =
    typeof exported === 'object' && exported !== null ? exported.default : exported
  if (typeof found !== 'function')
    throw Object.assign(new Error('it has no default export that is a function'), {
      code: 'NO_FUNCTION',
    })
  return found as ModuleFunction
}

/** CommonJS that Node.js cannot analyse has its names inside of the default. */
function exportedIn(exports: Record<string, unknown>, name: string): ModuleFunction {
  const all = { ...(exports.default as object | null | undefined), ...exports }
  const functions = Object.entries(all).filter(([, value]) => typeof value === 'function')
  const found = functions.find(([key]) => key === name)?.[1]
  if (found !== undefined) return found as ModuleFunction
  const names = functions.map(([key]) => key).slice(0, exportsShown)
  throw Object.assign(
    new Error(`it exports no function '${name}'; its functions: ${names.join(', ') || 'none'}`),
    { code: 'NO_FUNCTION' },
  )
}

const exportsShown = 32

/** A tool that `defineTool` made has its function under a symbol (client/define/define-tool.ts). */
function definedIn(exports: Record<string, unknown>, name: string): ModuleFunction {
  for (const value of Object.values(exports)) {
    const { name: found, run } =
      (value as Record<symbol, { name?: unknown; run?: unknown } | undefined> | null)?.[
        Symbol.for('weir-agents.tool')
      ] ?? {}
    if (found === name && typeof run === 'function') return run as ModuleFunction
  }
  throw Object.assign(new Error(`it exports no tool '${name}' of defineTool`), {
    code: 'NO_FUNCTION',
  })
}

async function call(
  run: ModuleFunction,
  { arguments: text, idempotencyKey, context, textBytesMax }: Extract<Request, { type: 'call' }>,
) {
  state = 'calling'
  controller = new AbortController()
  const { signal } = controller
  const given = { idempotencyKey, signal, context: context && JSON.parse(context) }
  const outcome = await functionOutcome(() => run(JSON.parse(text), given), textBytesMax)
  state = 'idle'
  controller = undefined
  answer({ ...outcome, memoryBytes: residentBytes() })
}

/** 0 where a sandbox has no /proc. */
function residentBytes(): number {
  try {
    return process.memoryUsage.rss()
  } catch {
    return 0
  }
}

function codeOf(error: unknown): string {
  const { code, name } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown
    name?: unknown
  }
  const short = [code, name].find(
    (candidate) => typeof candidate === 'string' && /^\w{1,64}$/.test(candidate),
  )
  return typeof short === 'string' ? short : 'unknown'
}

/** Also for an unhandled rejection. The module may be in any state then, so the process ends. */
process.on('uncaughtException', (error) => {
  const end = () => process.exit(1)
  const { message, stack } = described(error)
  if (state === 'loading')
    answer({ type: 'not-loaded', code: codeOf(error), stack: stack || message }, end)
  else if (state === 'calling')
    answer({ type: 'failed', how: 'crashed', message, stack, memoryBytes: residentBytes() }, end)
  else end()
})

/** In a thread, because a module may block this one while a program that it started needs a host. */
async function forwardToProxy(): Promise<void> {
  const forwarder = new URL(
    `../sandbox/sandbox-forwarder${extname(import.meta.filename)}`,
    import.meta.url,
  )
  const thread = new Worker(forwarder, { env: {} })
  await once(thread, 'message')
  thread.unref()
}

new Worker(watch, { eval: true, execArgv: [], env: {} }).unref()
const isConnected = network === 'through-proxy' ? forwardToProxy() : Promise.resolve()
isConnected.then(load).then(
  (run) => {
    state = 'idle'
    const onLine = (line: string) => {
      const request = JSON.parse(line) as Request
      if (request.type === 'abort') controller?.abort()
      else void call(run, request)
    }
    const readLines = messageLines(Number.POSITIVE_INFINITY, { onLine, onTooLong() {} })
    channel.ref().on('data', readLines)
    answer({ type: 'loaded' })
  },
  (error: unknown) => {
    const { message, stack } = described(error)
    answer({ type: 'not-loaded', code: codeOf(error), stack: stack || message }, () =>
      process.exit(1),
    )
  },
)
