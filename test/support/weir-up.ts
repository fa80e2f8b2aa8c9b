// `weir up` as a process: its log lines, its health server, its end.

import { until } from './inbox.ts'
import type { CommandFolder, Ended } from './weir-command.ts'

export type LogLine = { level: number; msg: string; [field: string]: unknown }

export type Probe = { status: number; text: string }

export type WeirUp = {
  /** The lines so far. */
  lines: LogLine[]
  /** The first line with this message. Rejects when the process ends without it. */
  line(msg: string | RegExp): Promise<LogLine>
  /** Requests a path of the health server. */
  probe(path: '/livez' | '/readyz' | '/metrics'): Promise<Probe>
  untilReady(): Promise<void>
  signal(name: NodeJS.Signals): void
  ended: Promise<Ended>
}

/**
 * `command`: another service than `weir up`. `fileSizeMax`: the largest size of a file in bytes.
 * Beyond it, writes fail as on a full disk. `program`: the path of another Weir's command.
 */
export type UpOptions = {
  command?: string[]
  args?: string[]
  environment?: Record<string, string>
  fileSizeMax?: number
  program?: string | undefined
}

/** Starts `weir up ARGUMENTS` in the folder. */
export function startUp(
  commands: Pick<CommandFolder, 'start'>,
  { command = ['up'], args = [], environment = {}, fileSizeMax, program }: UpOptions = {},
): WeirUp {
  const { child, ended } = commands.start([...command, ...args], {
    environment,
    program,
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

/** The value of a series, written with its labels; undefined: there is none. */
export function metricOf({ text }: Probe, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
