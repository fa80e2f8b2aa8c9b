// `weir mcp login`: a person logs in at an MCP server with the browser, and the login is written to the
// server's `tokenFile`. Exit codes: 0 there is a login, or the server needs none; 1 there is none.
// The callback listens on this machine only, for this login, and takes one answer.

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Writable } from 'node:stream'
import { agentsInFiles } from '../../../client/agents/agents-in-files.ts'
import type { McpServer, McpUrl } from '../../../shared/agents/agents.ts'
import { loadMcpServers } from '../../../shared/agents/file/mcp-servers.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import { listening } from '../../../shared/lib/listening.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { type KnownClient, loginAt } from '../../../shared/tools/mcp/login.ts'
import { writeLogin } from '../../../shared/tools/mcp/token-file.ts'
import { commandSettings, type SettingFlags } from '../../terminal/command-settings.ts'
import { portOf } from '../../terminal/port-flag.ts'
import { printable } from '../../terminal/text/printable.ts'

/** How long `weir mcp login` waits for the person in the browser. */
const mcpLoginMsMax = 10 * 60_000

export type LoginOptions = SettingFlags & {
  servers?: string
  clientId?: string
  clientSecret?: string
  scope?: string
  callbackPort?: string
}

/** Throws `usage`, `agent.invalid`, `settings.invalid` and `output.unwritable`. */
export async function mcpLogin(name: string, options: LoginOptions, out: Writable): Promise<0 | 1> {
  const client = clientOf(options)
  const { run, tokenFile } = serverOf(name, options)
  const state = randomBytes(32).toString('base64url')
  const callback = await openCallback(portOf(options.callbackPort ?? '0', '--callback-port'), state)
  try {
    const login = await loginAt(run, {
      redirectUrl: callback.url,
      state,
      client,
      scope: options.scope,
      callback: callback.params,
      onUrl(url) {
        if (!/^https?:$/.test(url.protocol)) throw new Error('its login page is no web page')
        callback.wait()
        out.write(`Open this page in a browser on this machine:\n\n  ${printable(url.href)}\n\n`)
      },
    })
    if (login === undefined) {
      out.write(`${name} answers without a login.\n`)
      return 0
    }
    writeLogin(tokenFile, login)
    out.write(`${name}: the login is in ${printable(tokenFile)}\n`)
    return 0
  } catch (error) {
    if (error instanceof WeirError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    out.write(`${name}: no login: ${printable(reason)}\n`)
    return 1
  } finally {
    callback.close()
  }
}

type Callback = {
  url: string
  /** Rejects if nobody answers in time. */
  params: Promise<URLSearchParams>
  /** Starts the time. */
  wait(): void
  close(): void
}

async function openCallback(port: number, state: string): Promise<Callback> {
  const answered = Promise.withResolvers<URLSearchParams>()
  answered.promise.catch(() => {}) // a login may fail before anybody waits
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1')
    const isOurs = url?.pathname === path && url.searchParams.get('state') === state
    response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' })
    response.end(isOurs ? 'Weir has the answer. You can close this page.\n' : 'unknown page\n')
    if (isOurs && url !== null) answered.resolve(url.searchParams)
  })
  const host = '127.0.0.1'
  const advice = 'give another port with --callback-port (0: any free port)'
  await listening(server, { name: 'the callback', host, port, advice })
  let timer: NodeJS.Timeout | undefined
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}${path}`,
    params: answered.promise,
    wait() {
      const late = () => answered.reject(new Error('nobody answered in the browser in time'))
      timer ??= setTimeout(late, mcpLoginMsMax)
    },
    close() {
      clearTimeout(timer)
      server.close()
      server.closeAllConnections()
    },
  }
}

const path = '/callback'

/** The secret stands in a variable: other users can read the arguments of a program. */
function clientOf({ clientId, clientSecret }: LoginOptions): KnownClient {
  if (clientId === undefined) {
    if (clientSecret === undefined) return undefined
    throw usageError('--client-secret needs --client-id')
  }
  if (clientSecret === undefined) return { id: clientId }
  const secret = process.env[clientSecret]
  if (secret === undefined || secret === '')
    throw usageError(
      // Without its value: somebody may have given the secret in place of the name.
      'the variable that --client-secret names is not set: set it, and give its name',
    )
  return { id: clientId, secret }
}

function serverOf(name: string, options: LoginOptions): { run: McpUrl; tokenFile: string } {
  const all = serversOf(options)
  const named = all.filter((server) => server.name === name)
  const [server] = named
  if (server === undefined) {
    const names = [...new Set(all.map((one) => one.name))]
    const near = nearestName(name, names)
    const advice = near === undefined ? listOf(names) : `did you mean ${near}?`
    throw usageError(`there is no MCP server '${printable(name)}'; ${advice}`)
  }
  const places = named.map(placeOf)
  if (places.some((place) => place !== places[0]))
    throw usageError(`several agents have a server ${name}: name one agent file`)
  const { run } = server
  if (run.kind === 'url' && run.auth !== undefined && 'tokenFile' in run.auth)
    return { run, tokenFile: run.auth.tokenFile }
  throw usageError(`${name} has no place for a login: it needs url, and auth: { tokenFile: FILE }`)
}

const namesMax = 20

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'the files have none: add it under mcp'
  const shown = names.slice(0, namesMax).join(', ')
  const more = names.length - namesMax
  return `the servers are ${shown}${more > 0 ? ` and ${more} more` : ''}`
}

const placeOf = ({ run }: McpServer): string =>
  run.kind === 'url' ? JSON.stringify([run.url, run.auth]) : run.kind

function serversOf(options: LoginOptions): McpServer[] {
  const { servers } = options
  if (servers !== undefined) return loadMcpServers(servers, process.env)
  const { agents } = commandSettings(options)
  if (agents === '')
    throw usageError(
      'give agent files with --agents (WEIR_AGENTS), or a file of servers with --servers',
    )
  return [...agentsInFiles(agents, process.env, ['tools']).values()].flatMap(({ mcp = [] }) => mcp)
}
