// `weir up` as a process: its log lines, its health server, its end.

import { until } from './inbox.ts'
import type { CommandFolder, Ended } from './weir-command.ts'

export type LogLine = { level: number; msg: string; [field: string]: unknown }

export type Probe = { status: number; text: string }

export type WeirUp = {
  /** So far. */
  lines: LogLine[]
  /** The first line that says this; rejects when the process ends without it. */
  line(msg: string | RegExp): Promise<LogLine>
  /** Asks the health server. */
  probe(path: '/livez' | '/readyz' | '/metrics'): Promise<Probe>
  untilReady(): Promise<void>
  signal(name: NodeJS.Signals): void
  ended: Promise<Ended>
}

/**
 * `command`: another service than `weir up`. `fileSizeMax`: bytes of a file that it writes; what
 * goes beyond fails as on a full disk.
 */
export type UpOptions = {
  command?: string[]
  args?: string[]
  environment?: Record<string, string>
  fileSizeMax?: number
}

/** Starts `weir up ARGUMENTS` in the commands's folder. */
export function startUp(
  commands: Pick<CommandFolder, 'start'>,
  { command = ['up'], args = [], environment = {}, fileSizeMax }: UpOptions = {},
): WeirUp {
  const { child, ended } = commands.start([...command, ...args], {
    environment,
    ...(fileSizeMax !== undefined && { fileSizeMax }),
  })
  const lines: LogLine[] = []
  let rest = ''
  child.stderr.on('data', (text: string) => {
    const [last, ...whole] = `${rest}${text}`.split('\n').reverse()
    rest = last ?? ''
    for (const line of whole.reverse())
      lines.push(line.startsWith('{') ? (JSON.parse(line) as LogLine) : { level: 0, msg: line })
  })

  const find = (msg: string | RegExp) =>
    lines.find((line) => (typeof msg === 'string' ? line.msg === msg : msg.test(line.msg)))

  async function line(msg: string | RegExp): Promise<LogLine> {
    const gone = ended.then(({ errors }) => {
      if (find(msg) === undefined) throw new Error(`it ended without the line ${msg}: ${errors}`)
    })
    await Promise.race([until(async () => find(msg) !== undefined), gone])
    return find(msg) as LogLine
  }

  async function probe(path: string): Promise<Probe> {
    const { health } = await line('starting')
    const answer = await fetch(`${health}${path}`)
    return { status: answer.status, text: await answer.text() }
  }

  return {
    lines,
    line,
    probe,
    untilReady: () => until(async () => (await probe('/readyz')).status === 200),
    signal: (name) => child.kill(name),
    ended,
  }
}

/** The value of a metric with these labels, as they are written; undefined: there is none. */
export function metricOf({ text }: Probe, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
