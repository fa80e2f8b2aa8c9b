// A real headless browser, if the machine has one: Chromium, driven over its debugging protocol.

import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'

export type Browser = {
  /** Opens a file or an address and waits until the page is loaded. */
  open(file: string): Promise<void>
  /** The value of an expression in the page. Awaits a promise. */
  evaluate<T>(expression: string): Promise<T>
  send<T = Record<string, unknown>>(method: string, parameters?: object): Promise<T>
  /** The CPU time of the page's process, in milliseconds. */
  cpuMs(): Promise<number>
  /** CPU time, in milliseconds, of each task of the page's main thread while `act` goes on. */
  traced<T>(act: () => Promise<T>): Promise<{ value: T; tasks: number[] }>
  /** The page's problems: errors, and loads that its policy refused. */
  problems: string[]
  close(): Promise<void>
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The path of Chromium. Undefined: this machine has none. CHROMIUM names one outside the path. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const files = [
    process.env.CHROMIUM ?? '',
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
  ]
  return files.find((file) => file !== '' && isExecutable(file))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

type Reply = {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: { message: string }
}

export async function openChromium(program: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'weir-chromium-'))
  const options = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--no-first-run',
    '--disable-dev-shm-usage',
    `--user-data-dir=${profile}`,
  ]
  const child = spawn(program, [...options, '--remote-debugging-port=0', 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const address = await debuggerAddress(child)
  const targets = (await (await fetch(`http://${new URL(address).host}/json/list`)).json()) as {
    type: string
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(
    targets.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? '',
  )
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })

  let count = 0
  const waiting = new Map<number, (reply: Reply) => void>()
  const problems: string[] = []
  let loaded: (() => void) | undefined
  let traceEnded: (() => void) | undefined
  let trace: TraceEvent[] = []
  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply)
    if (reply.method === 'Page.loadEventFired') loaded?.()
    if (reply.method === 'Tracing.dataCollected')
      trace.push(...((reply.params?.value ?? []) as TraceEvent[]))
    if (reply.method === 'Tracing.tracingComplete') traceEnded?.()
    if (reply.method === 'Runtime.exceptionThrown' || reply.method === 'Log.entryAdded')
      problems.push(JSON.stringify(reply.params))
  }

  function send<T>(method: string, parameters: object = {}): Promise<T> {
    const id = ++count
    socket.send(JSON.stringify({ id, method, params: parameters }))
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id)
        if (error === undefined) resolve(result as T)
        else reject(new Error(`${method}: ${error.message}`))
      })
    })
  }

  for (const domain of ['Page', 'Runtime', 'Log', 'Performance']) await send(`${domain}.enable`)
  return {
    problems,
    send,
    async open(file) {
      const isLoaded = new Promise<void>((resolve) => {
        loaded = resolve
      })
      await send('Page.navigate', { url: /^https?:/.test(file) ? file : pathToFileURL(file).href })
      await isLoaded
    },
    async evaluate<T>(expression: string) {
      type Evaluated = {
        result: { value: T }
        exceptionDetails?: { text: string; exception?: { description?: string } }
      }
      const { result, exceptionDetails: error } = await send<Evaluated>('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      })
      if (error !== undefined) throw new Error(error.exception?.description ?? error.text)
      return result.value
    },
    async cpuMs() {
      const { metrics } = await send<{ metrics: { name: string; value: number }[] }>(
        'Performance.getMetrics',
      )
      return 1000 * (metrics.find(({ name }) => name === 'ProcessTime')?.value ?? 0)
    },
    async traced(act) {
      trace = []
      const isOver = new Promise<void>((resolve) => {
        traceEnded = resolve
      })
      await send('Tracing.start', {
        transferMode: 'ReportEvents',
        traceConfig: { includedCategories: ['toplevel'] },
      })
      const value = await act()
      await send('Tracing.end')
      await isOver
      return { value, tasks: tasksIn(trace) }
    },
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      socket.close()
      child.kill()
      await ended
      rmSync(profile, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

export type TraceEvent = {
  name: string
  ph: string
  pid: number
  tid: number
  tdur?: number
  args?: { name?: string }
}

/** CPU time, in milliseconds, of each task of the main threads. */
export function tasksIn(trace: TraceEvent[]): number[] {
  const mains = new Set(
    trace
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}/${tid}`),
  )
  return trace
    .filter(
      ({ name, tdur, pid, tid }) =>
        /RunTask$/.test(name) && tdur !== undefined && mains.has(`${pid}/${tid}`),
    )
    .map(({ tdur = 0 }) => tdur / 1000)
}

function debuggerAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stderr?.on('data', (chunk) => {
      text += chunk
      const [, address] = /DevTools listening on (ws:\S+)/.exec(text) ?? []
      if (address !== undefined) resolve(address)
    })
    child.once('exit', () =>
      reject(new Error(`the browser ended before its first request: ${text}`)),
    )
    child.once('error', reject)
  })
}
