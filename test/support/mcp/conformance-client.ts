// Weir as a client of MCP servers, for the conformance suite. It logs in as `weir mcp login` does if the
// scenario is about that, lists the tools, and calls them.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from '@modelcontextprotocol/client'
import type { McpServer, McpUrl } from '../../../shared/agents/agents.ts'
import { inputFields, questionIn, valuesFor } from '../../../shared/contract/call/input-question.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { connectionTo } from '../../../shared/tools/mcp/connection.ts'
import { type KnownClient, loginAt } from '../../../shared/tools/mcp/login.ts'
import { startMcpCall } from '../../../shared/tools/mcp/mcp.ts'
import { writeLogin } from '../../../shared/tools/mcp/token-file.ts'
import type { AskPerson } from '../../../shared/tools/tool.ts'

type Context = {
  client_id?: string
  client_secret?: string
  issuer?: string
  toolCalls?: { name: string; arguments: Record<string, unknown> }[]
}

/** `url`: of the server of the scenario. */
export type Scenario = { scenario: string; url: string; context: Context }

/** The outcomes of the calls, for people. Rejects if there is no login or no list. */
export async function runScenario(one: Scenario): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-conformance-'))
  try {
    return await run(one, join(folder, 'token.json'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function run(one: Scenario, tokenFile: string): Promise<string> {
  const { url, context } = one
  const plain: McpUrl = { kind: 'url', url, headers: {} }
  const auth = await authOf(one, plain, tokenFile)
  const server: McpServer = {
    name: 'suite',
    isTrusted: false,
    timeoutMs: 20_000,
    wallMs: 20_000,
    run: { ...plain, ...(auth && { auth }) },
  }
  const lines: string[] = []
  const tools = await connectionTo(server).tools()
  const [first] = tools
  const calls =
    context.toolCalls ?? tools.map((tool) => ({ ...tool, arguments: valuesOf(tool, first) }))
  for (const call of calls) {
    const { status, text } = await startMcpCall(
      { kind: 'mcp', server, tool: call.name },
      {
        arguments: JSON.stringify(call.arguments),
        idempotencyKey: call.name,
        clock: systemClock,
        timeoutMs: 20_000,
        graceMs: 0,
        ask: acceptWithDefaults,
      },
    ).ended
    lines.push(`${call.name}: ${status} ${text}`)
  }
  await connectionTo(server).close()
  return lines.join('\n')
}

/** The person accepts each question with its defaults, and with a value for each other field. */
const acceptWithDefaults: AskPerson = async (question) => {
  const asked = questionIn(question)
  const fields = asked === undefined ? [] : inputFields(asked)
  const missing = fields.filter((field) => field.isRequired && field.default === undefined)
  const byType: Record<string, unknown> = { boolean: true, integer: 5, number: 5 }
  const values = missing.map(({ name, type }) => [name, byType[type] ?? 'a'])
  const checked = valuesFor(question, JSON.stringify(Object.fromEntries(values)))
  if ('fault' in checked) throw new Error(checked.fault)
  return { answer: 'accept', values: checked.values }
}

async function authOf(
  { scenario, context }: Scenario,
  run: McpUrl,
  tokenFile: string,
): Promise<McpUrl['auth']> {
  const { client_id: clientId = '', client_secret: clientSecret = '', issuer } = context
  if (scenario === 'auth/client-credentials-basic')
    return { clientId, clientSecret, ...(issuer !== undefined && { issuer }) }
  const login = scenario.startsWith('auth/') ? await loggedIn(context, run) : undefined
  if (login === undefined) return undefined
  writeLogin(tokenFile, login)
  return { tokenFile }
}

/** The person allows everything at once. */
function loggedIn(context: Context, run: McpUrl) {
  const callback = Promise.withResolvers<URLSearchParams>()
  const redirectUrl = 'http://127.0.0.1:4199/callback'
  const { client_id: id, client_secret: secret } = context
  const client: KnownClient =
    id === undefined ? undefined : { id, ...(secret !== undefined && { secret }) }
  return loginAt(run, {
    redirectUrl,
    state: 'state-of-the-suite',
    client,
    scope: undefined,
    onUrl(page) {
      void fetch(page, { redirect: 'manual' }).then(({ headers }) => {
        callback.resolve(new URL(headers.get('location') ?? '').searchParams)
      }, callback.reject)
    },
    callback: callback.promise,
  })
}

/** A value for each property. For an object it is the schema of the first tool, to be repeated. */
function valuesOf({ inputSchema }: Tool, first: Tool | undefined): Record<string, unknown> {
  const values: Record<string, unknown> = { string: 'a', object: first?.inputSchema }
  const properties = (inputSchema.properties ?? {}) as Record<string, { type?: string }>
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type = '' }]) => [name, values[type] ?? 5]),
  )
}
