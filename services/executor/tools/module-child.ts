// The process of a module tool. Loads the module once, then calls its default export, one call at a
// time, as its parent requests over the IPC channel. It is a separate program, which
// module-process.ts starts.
// MODULE-CHILD-1. It sends one answer to each call, and one when loading is over. It reports a
//     crash in between if it still can.
// MODULE-CHILD-2. It ends with its parent, together with all that the module started, also in an
//     endless loop: a thread holds a pipe that breaks when the parent ends.
// MODULE-CHILD-3. Its answers are bounded here, so the parent never holds a larger result than it
//     keeps.

import { once } from 'node:events'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import { cutToBytes } from '../../../shared/lib/text-cut.ts'

export type Request =
  | { type: 'call'; arguments: string; idempotencyKey: string; textBytesMax: number }
  | { type: 'abort' }

type Outcome =
  /** `bytes`: of the whole text. `replaced`: half characters became U+FFFD. */
  | { type: 'returned'; text: string; bytes: number; replaced: boolean }
  /** `stack` is for logs: it names files. */
  | { type: 'failed'; how: 'threw' | 'no-json' | 'crashed'; message: string; stack: string }

/** `memoryBytes`: the memory of the process after the call. */
export type Answer =
  | { type: 'loaded' }
  | { type: 'not-loaded'; code: string; stack: string }
  | (Outcome & { memoryBytes: number })

type ModuleFunction = (
  args: unknown,
  context: { idempotencyKey: string; signal: AbortSignal },
) => unknown

const errorBytesMax = 8 * 1024
const causesMax = 3

/** The descriptor of the pipe in MODULE-CHILD-2; 3 is the IPC channel. */
const lifeline = 4
const watch = `
  new (require('node:net').Socket)({ fd: ${lifeline} })
    .on('error', () => {})
    .on('close', () => process.kill(0, 'SIGKILL'))
    .resume()`

const [, , file = '', network = ''] = process.argv
const tellParent = process.send?.bind(process)
process.send = undefined // the channel is ours: a library's message on it would count as an answer

let state: 'loading' | 'idle' | 'calling' = 'loading'
let controller: AbortController | undefined

function answer(value: Answer, then = () => {}): void {
  tellParent?.(value, then)
}

async function load(): Promise<ModuleFunction> {
  const { default: exported } = await import(pathToFileURL(file).href)
  // CommonJS compiled from a module has its default inside of the default.
  const found: unknown =
    typeof exported === 'object' && exported !== null ? exported.default : exported
  if (typeof found !== 'function')
    throw Object.assign(new Error('it has no default export that is a function'), {
      code: 'NO_FUNCTION',
    })
  return found as ModuleFunction
}

async function call(
  run: ModuleFunction,
  { arguments: text, idempotencyKey, textBytesMax }: Extract<Request, { type: 'call' }>,
) {
  state = 'calling'
  controller = new AbortController()
  const outcome = await outcomeOf(
    run,
    text,
    { idempotencyKey, signal: controller.signal },
    textBytesMax,
  )
  state = 'idle'
  controller = undefined
  answer({ ...outcome, memoryBytes: residentBytes() })
}

async function outcomeOf(
  run: ModuleFunction,
  text: string,
  context: Parameters<ModuleFunction>[1],
  bytesMax: number,
): Promise<Outcome> {
  let result: unknown
  try {
    result = await run(JSON.parse(text), context)
  } catch (error) {
    return { type: 'failed', how: 'threw', ...described(error) }
  }
  try {
    const text = textOf(result)
    const whole = text.toWellFormed()
    return {
      type: 'returned',
      text: cutToBytes(whole, bytesMax),
      bytes: Buffer.byteLength(whole),
      replaced: whole !== text,
    }
  } catch (error) {
    return { type: 'failed', how: 'no-json', ...described(error) }
  }
}

function textOf(result: unknown): string {
  if (result === undefined) return ''
  if (typeof result === 'string') return result
  const text: string | undefined = JSON.stringify(result)
  if (text === undefined) throw new TypeError(`a ${typeof result} has no JSON`)
  return text
}

/** Describes any thrown value, also one that throws again when read. */
function described(error: unknown): { message: string; stack: string } {
  try {
    if (!(error instanceof Error))
      return { message: shown(typeof error === 'string' ? error : inspect(error)), stack: '' }
    return { message: shown(withCauses(error)), stack: shown(inspect(error)) }
  } catch {
    return { message: 'an error that cannot be shown', stack: '' }
  }
}

/** Includes the causes: `fetch failed` alone is useless. */
function withCauses(error: Error): string {
  const messages: string[] = []
  for (
    let next: unknown = error;
    next instanceof Error && messages.length <= causesMax;
    next = next.cause
  ) {
    const { code } = next as NodeJS.ErrnoException
    const message = next.message || (code === undefined ? '' : String(code))
    messages.push(message === '' ? String(next.name) : `${next.name}: ${message}`)
  }
  return messages.join(' - caused by ')
}

function shown(text: string): string {
  return cutToBytes(text.toWellFormed(), errorBytesMax)
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
  const forwarder = new URL(`sandbox-forwarder${extname(import.meta.filename)}`, import.meta.url)
  const thread = new Worker(forwarder, { env: {} })
  await once(thread, 'message')
  thread.unref()
}

new Worker(watch, { eval: true, execArgv: [], env: {} }).unref()
const isConnected = network === 'through-proxy' ? forwardToProxy() : Promise.resolve()
isConnected.then(load).then(
  (run) => {
    state = 'idle'
    process.on('message', (request: Request) => {
      if (request.type === 'abort') controller?.abort()
      else void call(run, request)
    })
    answer({ type: 'loaded' })
  },
  (error: unknown) => {
    const { message, stack } = described(error)
    answer({ type: 'not-loaded', code: codeOf(error), stack: stack || message }, () =>
      process.exit(1),
    )
  },
)
