// `weir console`: prints the address of the console if a server answers there, and can open it.

import { spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { WeirError } from '../../../shared/lib/errors.ts'
import { portOf } from '../../terminal/port-flag.ts'
import { consolePath } from './console-assets.ts'

export type ConsoleOptions = { httpHost: string; httpPort: string; open?: boolean }

const waitMs = 3_000

/** The programs that open an address. */
const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Throws `usage` if no console answers at the address. */
export async function printConsole(
  { httpHost, httpPort, open = false }: ConsoleOptions,
  out: Writable,
): Promise<void> {
  const host = httpHost.includes(':') ? `[${httpHost}]` : httpHost
  const url = `http://${host}:${portOf(httpPort, '--http-port')}${consolePath}`
  const response = await fetch(url, { signal: AbortSignal.timeout(waitMs) }).catch(() => undefined)
  const text = (await response?.text().catch(() => '')) ?? ''
  if (response?.ok !== true || !text.includes('<title>Weir console</title>'))
    throw new WeirError(
      'usage',
      `no console answers at ${url}: start weir serve, or give the address of a running one with --http-host and --http-port`,
    )
  out.write(`${url}\n`)
  if (!open) return
  const [program = 'xdg-open', ...rest] = openers[process.platform] ?? []
  const child = spawn(program, [...rest, url], { detached: true, stdio: 'ignore' })
  child.once('error', () => {}) // the address is on the screen
  child.unref()
}
