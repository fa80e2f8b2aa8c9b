// The edge with its own Weir on a new folder and a scripted model, for tests.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type EdgeOptions, startEdge } from '../../../../apps/http/edge/edge.ts'
import { scriptedModel } from '../../../../client/testing/testing.ts'
import { type DefinedTool, defineAgent, Weir, type WeirOptions } from '../../../../client/weir.ts'

export type EdgeServer = AsyncDisposable & {
  url: string
  weir: Weir
  model: ReturnType<typeof scriptedModel>
  folder: string
}

export type EdgeServerOptions = Partial<EdgeOptions> & {
  tools?: readonly DefinedTool[]
  caps?: Parameters<typeof defineAgent>[0]['caps']
  approvals?: WeirOptions['approvals']
  dataFolder?: string
  mcp?: Parameters<typeof defineAgent>[0]['mcp']
}

/** The agent is `helper`. `replies`: as for scriptedModel. */
export async function edgeServer(
  replies: Parameters<typeof scriptedModel>,
  { tools = [], caps = {}, approvals, dataFolder, mcp, ...options }: EdgeServerOptions = {},
): Promise<EdgeServer> {
  const folder = dataFolder ?? mkdtempSync(join(tmpdir(), 'weir-edge-'))
  const model = scriptedModel(...replies)
  const log = pino({ level: 'silent' })
  const agent = defineAgent({
    name: 'helper',
    model,
    system: 'Help.',
    tools,
    caps,
    ...(mcp && { mcp, sandbox: 'off' as const }),
  })
  const weir = await Weir.open({
    agents: [agent],
    dataFolder: folder,
    partitions: 2,
    log,
    ...(approvals !== undefined && { approvals }),
  })
  const server = await startEdge({
    weir,
    log,
    host: '127.0.0.1',
    port: 0,
    access: {},
    origins: [],
    ...options,
  }).catch(async (error: unknown) => {
    await weir.close()
    throw error
  })
  return {
    url: server.url,
    weir,
    model,
    folder,
    async [Symbol.asyncDispose]() {
      await server.close()
      await weir.close()
      if (dataFolder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A PNG of one pixel, in base64. */
export const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The types and names of the images and files of the first message. */
export async function contentsOf({ weir }: EdgeServer, conversation: string): Promise<string[]> {
  const [message] = await weir.conversation(conversation).messages()
  const contents = message?.role === 'user' ? message.contents : []
  return contents.map(({ mediaType, name }) => `${mediaType} ${name}`)
}

/** The events of a stream, each as its fields. Ends when the caller leaves. */
export async function* serverSentEvents(
  response: Response,
): AsyncGenerator<{ id?: string; event?: string; data: string }> {
  let rest = ''
  for await (const piece of response.body ?? []) {
    rest += Buffer.from(piece).toString('utf8')
    const [last = '', ...whole] = rest.split('\n\n').reverse()
    rest = last
    for (const text of whole.reverse()) {
      const fields = text
        .split('\n')
        .filter((line) => !line.startsWith(':'))
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
      const event = Object.fromEntries(fields) as { id?: string; event?: string; data: string }
      if (event.data !== undefined) yield event
    }
  }
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  })
}
