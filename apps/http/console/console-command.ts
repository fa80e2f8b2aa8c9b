// `weir console`: prints the address of the console if a server answers there, and can open it. If none
// answers on this machine, the command serves the history and the controls of the log itself.
// The key of the data folder is in the address only if the server asks for that key
// and a process of this user listens there. Another user could listen on the port.
// No argument of a process has the key, because all users see arguments.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { get as getByTls } from 'node:https'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { usageError } from '../../../shared/lib/errors.ts'
import { replaceFile } from '../../../shared/lib/files/whole-file.ts'
import { harmlessEnvironment, ofDesktop } from '../../../shared/lib/sandbox/harmless-variables.ts'
import { commandSettings, type SettingFlags } from '../../terminal/command-settings.ts'
import { portOf } from '../../terminal/port-flag.ts'
import { ownKeyAdvice } from '../edge/access/access.ts'
import { type OwnKey, ownKeyIn } from '../edge/access/own-key.ts'
import { consolePath } from '../edge/console-path.ts'
import { hasLog, serve } from '../serve/serve.ts'
import { isLoopback } from '../server.ts'
import { consoleAddress } from './console-assets.ts'
import { isListenedByUser } from './listening-user.ts'

export type ConsoleOptions = SettingFlags & { httpHost: string; httpPort: string; open?: boolean }

const waitMs = 3_000

/** The programs that open an address. */
const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Resolves to the exit code. Throws `usage` if no console answers at the address and none can be served. */
export async function printConsole(
  { httpHost, httpPort, open = false, ...flags }: ConsoleOptions,
  out: Writable,
): Promise<0 | 1> {
  const host = httpHost.includes(':') ? `[${httpHost}]` : httpHost
  const address = `://${host}:${portOf(httpPort, '--http-port')}`
  const plain = `http${address}`
  const found = (await isConsole(plain)) ? plain : `https${address}`
  if (found !== plain && !(await isConsole(found))) {
    if (!isLoopback(httpHost) || !hasLog(commandSettings(flags)))
      throw usageError(
        `no console answers at ${plain}${consolePath}: start weir serve, or give the address of a running one with --http-host and --http-port, or a data folder with a log`,
      )
    const onServing = open ? openPage : undefined
    return serve(undefined, { ...flags, httpHost, httpPort }, out, { isHistory: true, onServing })
  }
  const own = await keyFor(found, flags)
  out.write(`${consoleAddress(found, own?.key)}\n`)
  if (open) openPage(found, own)
  return 0
}

function openPage(server: string, own: OwnKey | undefined): void {
  const url = consoleAddress(server, own?.key)
  const [program = 'xdg-open', ...rest] = openers[process.platform] ?? []
  const page = own === undefined ? url : pageTo(url, own)
  const child = spawn(program, [...rest, page], {
    env: harmlessEnvironment(ofDesktop),
    detached: true,
    stdio: 'ignore',
  })
  child.once('error', () => {}) // the address is on the screen
  child.unref()
}

/** Undefined: the server asks for no key, or for another one. */
async function keyFor(server: string, flags: SettingFlags): Promise<OwnKey | undefined> {
  const own = ownKeyIn(commandSettings(flags).dataFolder)
  if (own === undefined || !isListenedByUser(Number(new URL(server).port))) return undefined
  const models = await bodyAt(`${server}/v1/models`)
  return models?.includes(ownKeyAdvice) ? own : undefined
}

/** A file of this user leads to the address. */
function pageTo(url: string, { file }: OwnKey): string {
  const page = resolve(file, '..', 'weir.console.html')
  const text = `<!doctype html><meta http-equiv="refresh" content="0;url=${url}"><title>Weir console</title>\n`
  replaceFile(page, text, { mode: 0o600 })
  return pathToFileURL(page).href
}

async function isConsole(server: string): Promise<boolean> {
  return (await bodyAt(server + consolePath))?.includes('<title>Weir console</title>') ?? false
}

/** The request carries nothing, so any certificate will do. Undefined: no answer. */
async function bodyAt(url: string): Promise<string | undefined> {
  const options = { signal: AbortSignal.timeout(waitMs), rejectUnauthorized: false }
  const request = url.startsWith('https:') ? getByTls(url, options) : get(url, options)
  request.on('error', () => {}) // also after the head of the answer
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    return await textOf(answer)
  } catch {
    return undefined
  }
}
