// `weir mcp` as a host runs it: a client of the SDK, a process of Weir, a server after it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { McpAddress } from '../../../apps/http/serve-mcp.ts'
import { mcpServerProcess, weirCommand } from '../programs.ts'

export const serverCommand = [process.execPath, mcpServerProcess]

export type Era = 'modern' | 'legacy'
export const eras: Era[] = ['modern', 'legacy']

type HostOptions = { era: Era; capabilities?: ClientOptions['capabilities'] }

export function hostClient({ era, capabilities = {} }: HostOptions): Client {
  return new Client(
    { name: 'host', version: '1' },
    { capabilities, versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
  )
}

export type GatewayOptions = HostOptions & {
  args?: string[]
  /** Default: the test server. */
  behind?: string[]
  folder: string
  environment?: Record<string, string>
  /**
   * In the modern era: the SDK asks for the revision in a second process, which it then ends.
   * Default: it asks in the process of the connection.
   */
  asksInSecondProcess?: boolean
}

/** The SDK starts a second process for its own class only. */
class OneProcessTransport extends StdioClientTransport {}

/** A host with `weir mcp` over a pipe. `prepare` adds handlers before it connects. */
export async function hostOnPipe(
  {
    args = [],
    behind = ['--', ...serverCommand],
    folder,
    environment = {},
    asksInSecondProcess = false,
    ...host
  }: GatewayOptions,
  prepare: (client: Client) => void = () => {},
): Promise<{ client: Client; errors(): string; pid: number | null }> {
  const client = hostClient(host)
  prepare(client)
  const Transport = asksInSecondProcess ? StdioClientTransport : OneProcessTransport
  const transport = new Transport({
    command: weirCommand,
    args: ['mcp', ...args, ...behind],
    cwd: folder,
    stderr: 'pipe',
    env: { PATH: process.env.PATH ?? '', ...environment },
  })
  let errors = ''
  transport.stderr?.on('data', (text: Buffer) => {
    errors += String(text)
  })
  await client.connect(transport, { timeout: 60_000 })
  return { client, errors: () => errors, pid: transport.pid }
}

/** `weir mcp --http-port 0`. */
export async function gatewayOverHttp({
  args = [],
  behind = ['--', ...serverCommand],
  folder,
  environment = {},
}: Omit<GatewayOptions, keyof HostOptions | 'asksInSecondProcess'>): Promise<{
  url: string
  keyFile: string | undefined
  close(): Promise<void>
}> {
  const child = spawn(weirCommand, ['mcp', '--http-port', '0', '--json', ...args, ...behind], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  const ended = once(child, 'close')
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => [''] as string[]),
  ])
  const { url, keyFile } = JSON.parse(String(line)) as McpAddress
  return {
    url,
    keyFile,
    async close() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

export async function hostOverHttp(
  url: string,
  host: HostOptions,
  prepare: (client: Client) => void = () => {},
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = hostClient(host)
  prepare(client)
  const requestInit = { headers }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

/** The texts of a result, and whether it is an error. */
export async function textOf(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
  options: Parameters<Client['callTool']>[1] = {},
): Promise<{ text: string; isError: boolean }> {
  const { content, isError = false } = await client.callTool({ name, arguments: args }, options)
  const text = content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')
  return { text, isError }
}
