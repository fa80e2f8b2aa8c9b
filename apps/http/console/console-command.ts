// `weir console`: prints the address of the console if a server answers there, and can open it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { get as getByTls } from 'node:https'
import type { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { usageError } from '../../../shared/lib/errors.ts'
import { harmlessEnvironment } from '../../../shared/lib/sandbox/harmless-variables.ts'
import { portOf } from '../../terminal/port-flag.ts'
import { consolePath } from './console-assets.ts'

export type ConsoleOptions = { httpHost: string; httpPort: string; open?: boolean }

const waitMs = 3_000

/** The variables with which a program reaches the desktop. */
const ofDesktop = [
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'DBUS_SESSION_BUS_ADDRESS', 'BROWSER'],
  ...['SystemRoot', 'ComSpec', 'APPDATA', 'LOCALAPPDATA', 'USERPROFILE'],
]

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
  const address = `://${host}:${portOf(httpPort, '--http-port')}${consolePath}`
  const plain = `http${address}`
  const url = (await isConsole(plain)) ? plain : `https${address}`
  if (url !== plain && !(await isConsole(url)))
    throw usageError(
      `no console answers at ${plain}: start weir serve, or give the address of a running one with --http-host and --http-port`,
    )
  out.write(`${url}\n`)
  if (!open) return
  const [program = 'xdg-open', ...rest] = openers[process.platform] ?? []
  const child = spawn(program, [...rest, url], {
    env: harmlessEnvironment(ofDesktop),
    detached: true,
    stdio: 'ignore',
  })
  child.once('error', () => {}) // the address is on the screen
  child.unref()
}

/** The request carries nothing, so any certificate will do. */
async function isConsole(url: string): Promise<boolean> {
  const options = { signal: AbortSignal.timeout(waitMs), rejectUnauthorized: false }
  const request = url.startsWith('https:') ? getByTls(url, options) : get(url, options)
  request.on('error', () => {}) // also behind the head of the answer
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    return (await textOf(answer)).includes('<title>Weir console</title>')
  } catch {
    return false
  }
}
