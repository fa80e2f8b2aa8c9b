// `weir mcp`: the gateway on standard input and output, or over HTTP, until its host leaves, SIGTERM
// or SIGINT. On Kafka the stages run elsewhere.
// Standard output has nothing but the protocol. The log goes to standard error.

import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import type { Writable } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import { type Fronts, openFronts } from '../../client/guard/log/fronts.ts'
import type { McpServer } from '../../shared/agents/agents.ts'
import { loadMcpServers } from '../../shared/agents/file/mcp-servers.ts'
import { unsetText } from '../../shared/agents/file/source.ts'
import { secretsOfEnvironment, secretsOfServers } from '../../shared/agents/secrets.ts'
import { limits } from '../../shared/contract/limits.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { noPins, type ToolPins, toolPins } from '../../shared/tools/mcp/tool-pins.ts'
import { declareServers } from '../../shared/tools/sandbox/sandbox-check.ts'
import type { SettingFlags } from '../terminal/command-settings.ts'
import { portOf } from '../terminal/port-flag.ts'
import { printable } from '../terminal/text/printable.ts'
import { type OwnKey, ownKeyOf } from './edge/access/own-key.ts'
import { refuseOpenAddress } from './front-address.ts'
import { namedGuests } from './front-server.ts'
import { gatewayConversation, gatewayRoutes } from './fronts/mcp/gateway.ts'
import { gatewayServers } from './fronts/mcp/gateway-server.ts'
import { linesWithTexts } from './fronts/mcp/host-message.ts'
import { type Upstreams, upstreamsOf } from './fronts/mcp/upstreams.ts'
import { frontsPlaceOf } from './fronts-place.ts'
import { guardsByAgent } from './guards-by-agent.ts'
import { startHttpServer } from './server.ts'
import { untilStopped } from './until-stopped.ts'

export type McpCommandOptions = SettingFlags & {
  servers?: string
  agent?: string
  env?: string[]
  startMs?: string
  concealed?: 'clean' | 'refuse'
  pin?: 'on' | 'off'
  httpPort?: string
  host?: string
  allowRemote?: boolean
  json?: boolean
}

/** `weir mcp --http-port PORT --json` prints it as its first line. `keyFile`: with a data folder. */
export type McpAddress = { port: number; url: string; keyFile?: string }

/** Resolves to the exit code. Throws before it serves: `usage`, `agent.invalid`, `mcp.unreachable`. */
export async function serveMcp(
  command: string[],
  options: McpCommandOptions,
  out: Writable,
): Promise<0 | 1> {
  refuseUnused(options)
  const servers = serversOf(command, options)
  declareServers(servers)
  const { kind, settings, folder } = frontsPlaceOf(options)
  const pins = pinsOf(folder, options)
  const own = folder === undefined || options.httpPort === undefined ? undefined : ownKeyOf(folder)
  const secrets = [
    ...secretsOfEnvironment(process.env),
    ...secretsOfServers(servers, process.env),
    ...(own ? [own.key] : []),
  ]
  const log = createLog({ level: settings.logLevel, secrets })
  const fronts = await openFronts({ kind, settings }, { secrets, log })
  const upstreams = upstreamsOf(servers, {
    isPrefixed: options.servers !== undefined,
    log,
    pins,
  })
  const { ended, stop, release } = untilStopped(fronts.failed, log)
  try {
    const early = await Promise.race([upstreams.open(), ended])
    if (typeof early === 'number') return early
    const serve = options.httpPort === undefined ? onPipe : overHttp
    const close = await serve({ fronts, upstreams, own, options, out, log, stop })
    const code = await ended
    await close()
    return code
  } finally {
    release()
    await upstreams.close()
    await fronts.close()
  }
}

/** Throws `usage` and `folder.foreign`. */
function pinsOf(folder: string | undefined, { pin }: McpCommandOptions): ToolPins {
  if (pin === 'on' && folder === undefined)
    throw usageError(
      '--pin on needs a data folder for the pins: give it with --data-folder, as in --data-folder .weir',
    )
  return folder === undefined || pin === 'off' ? noPins : toolPins(folder)
}

type Serving = {
  fronts: Fronts
  upstreams: Upstreams
  /** The key of the data folder, for a server over HTTP. */
  own: OwnKey | undefined
  options: McpCommandOptions
  out: Writable
  log: Logger
  stop(): void
}

/** The process is the conversation. */
async function onPipe({ fronts, upstreams, options, log, stop }: Serving) {
  const { StdioServerTransport, serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const guard = fronts.front({
    agent: options.agent ?? defaultAgent,
    isGiven: true,
    mode: 'blocking',
    counting: 'look',
  })
  const { calls, close } = gatewayConversation(guard, randomUUID(), {
    upstreams,
    approvals: fronts.approvals,
    log,
  })
  const factory = await gatewayServers({ upstreams, callsOf: () => calls, isOfUser: () => true })
  const lines = linesWithTexts()
  let newest: Server | undefined
  upstreams.onChanged(() => {
    newest?.sendToolListChanged().catch(() => {}) // its host is not there yet
  })
  const handle = serveStdio(
    async (context) => {
      newest = (await factory(context)) as Server
      return newest
    },
    {
      transport: new StdioServerTransport(lines, process.stdout, { maxBufferSize: linesBytesMax }),
      onerror: (error) => log.debug({ err: error }, 'of the MCP host'),
    },
  )
  process.stdin.once('end', stop).once('close', stop).pipe(lines).once('close', stop)
  return async () => {
    process.stdin.unpipe(lines).pause()
    await handle.close()
    await close()
  }
}

/** A message, and the text of its arguments with an escape for each quote. */
const linesBytesMax = 3 * limits.mcpMessageBytesMax

async function overHttp({ fronts, upstreams, own, options, out, log }: Serving) {
  const { host = '127.0.0.1', httpPort = '0', json = false } = options
  const guards = guardsByAgent(
    async (agent) => fronts.front({ agent, mode: 'blocking', counting: 'look' }),
    namedGuests(fronts, undefined),
  )
  const gateway = await gatewayRoutes(guards, {
    upstreams,
    approvals: fronts.approvals,
    key: own?.key,
    log,
  })
  const server = await startHttpServer({
    host,
    port: portOf(httpPort, '--http-port'),
    log,
    routes: [gateway.routes],
    advice: 'give another address with --host and --http-port (0: any free port)',
  })
  const { port, url } = server
  out.write(
    json
      ? `${JSON.stringify({ port, url, keyFile: own?.file } as McpAddress)}\n`
      : `The gateway serves ${url}/mcp/AGENT/CONVERSATION.${own ? keyText(own) : ''} Ctrl-C ends it.\n`,
  )
  return async () => {
    await gateway.close()
    await server.close()
  }
}

const keyText = ({ file }: OwnKey): string =>
  ` A host that sends Authorization: Bearer KEY asks its user about waiting calls; ${printable(file)} has the key.`

const defaultAgent = 'guest'

function serversOf(
  command: string[],
  { servers, env = [], startMs, concealed }: McpCommandOptions,
): McpServer[] {
  const [program] = command
  if ((program === undefined) === (servers === undefined))
    throw usageError(
      'give one server after --, as in weir mcp -- npx -y some-server, or several with --servers FILE',
    )
  if (servers !== undefined) {
    if (env.length > 0)
      throw usageError(`--env is for a server after --: name variables in ${servers}`)
    if (startMs !== undefined)
      throw usageError(`--start-ms is for a server after --: set startMs in ${servers}`)
    if (concealed !== undefined)
      throw usageError(`--concealed is for a server after --: set concealed in ${servers}`)
    return loadMcpServers(servers, process.env)
  }
  for (const name of env)
    if (process.env[name] === undefined)
      throw usageError(`--env ${name} ${unsetText(name, process.env)}`)
  const name = basename(program ?? '')
  return [
    {
      name,
      run: { kind: 'command', argv: command as [string], environment: env },
      isTrusted: false,
      timeoutMs: 60_000,
      wallMs: 300_000,
      ...(startMs !== undefined && { startMs: startMsOf(startMs) }),
      ...(concealed !== undefined && { concealed }),
    },
  ]
}

/** The bounds are those of `startMs` in agent files. */
function startMsOf(text: string): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (value >= startMsMin && value <= startMsMax) return value
  throw usageError(
    `--start-ms is ${JSON.stringify(text)}: give a whole number from ${startMsMin} to ${startMsMax}`,
  )
}

const startMsMin = 1_000
const startMsMax = 600_000

/** Throws `usage` for flags that would have no effect. */
function refuseUnused(options: McpCommandOptions): void {
  const { httpPort, agent, host } = options
  if (httpPort !== undefined) {
    if (agent !== undefined)
      throw usageError('--agent has no use with --http-port: the URL names the agent')
    refuseOpenAddress(host ?? '127.0.0.1', { flag: '--host', allowRemote: options.allowRemote })
    return
  }
  const alone = httpFlags.find(([key]) => options[key] !== undefined)
  if (alone !== undefined) throw usageError(`${alone[1]} needs --http-port (0: any free port)`)
}

const httpFlags = [
  ['host', '--host'],
  ['allowRemote', '--allow-remote'],
  ['json', '--json'],
] as const
