// The MCP servers of an agent: how to reach them, and which of their tools the agent gets. Their
// lists of tools come later, from the servers (client/agents/mcp-agents.ts).

import { shown } from '../../../settings/mistake.ts'
import { nearestName } from '../../../settings/nearest-name.ts'
import type { McpCommand, McpServer, McpUrl } from '../../agents.ts'
import type { SandboxSetting } from '../../sandbox.ts'
import type { AgentContent, McpContent } from '../content.ts'
import { expanded, needs, referred, type Source } from '../source.ts'
import { labelsOf } from '../tool-hints.ts'
import { urlOf } from '../url.ts'
import { commandOf } from './command-part.ts'
import { headersOf } from './headers-part.ts'
import { sandboxOf } from './sandbox-part.ts'

/** The defaults of a server. agent.schema.json has the same ones. */
const mcpDefaults = { timeoutMs: 60_000, wallMs: 300_000 }

/** A process that runs no tools has neither the programs of servers nor their keys. */
export function mcpOf(source: Source, content: AgentContent): McpServer[] {
  const { mcp = {}, trust = [] } = content
  for (const [index, name] of trust.entries())
    if (name !== undefined && !(name in mcp)) {
      const near = nearestName(name, Object.keys(mcp))
      const advice = near === undefined ? 'must be a name in mcp' : `did you mean ${near}?`
      source.refuse(['trust', index], `is ${shown(name)}, and there is no such server; ${advice}`)
    }
  const isHere = needs(source, 'tools')
  const ofAgent = isHere ? sandboxOf(source, ['sandbox'], content.sandbox) : undefined
  return Object.entries(mcp).flatMap(([name, server]) =>
    server === undefined ? [] : [serverOf(source, name, server, trust.includes(name), ofAgent)],
  )
}

function serverOf(
  source: Source,
  name: string,
  content: McpContent,
  isTrusted: boolean,
  sandbox: SandboxSetting | undefined,
): McpServer {
  const { allow, deny, labels, outputBytesMax, traceparent, concealed, pin } = content
  const { startMs, timeoutMs, wallMs } = { ...mcpDefaults, ...content }
  if (wallMs < timeoutMs)
    source.refuse(
      ['mcp', name, 'wallMs'],
      `is ${wallMs}, less than timeoutMs, ${timeoutMs}; must be at least that`,
    )
  const toolsFile =
    content.toolsFile === undefined
      ? undefined
      : referred(source, ['mcp', name, 'toolsFile'], content.toolsFile)?.path
  return {
    name,
    run: runOf(source, name, content, sandbox),
    isTrusted,
    timeoutMs,
    wallMs,
    ...(startMs !== undefined && { startMs }),
    ...(toolsFile !== undefined && { toolsFile }),
    ...(traceparent === true && { traceparent }),
    ...(concealed !== undefined && { concealed }),
    ...(pin !== undefined && { pin }),
    ...(allow && { allow: allow.filter((pattern) => pattern !== undefined) }),
    ...(deny && { deny: deny.filter((pattern) => pattern !== undefined) }),
    ...(outputBytesMax !== undefined && { outputBytesMax }),
    ...(labels && { labels: labelsByPattern(labels) }),
  }
}

function runOf(
  source: Source,
  name: string,
  content: McpContent,
  sandbox: SandboxSetting | undefined,
): McpServer['run'] {
  if (!needs(source, 'tools')) return { kind: 'elsewhere' }
  if (content.url === undefined) return programOf(source, name, content, sandbox)
  return addressOf(source, name, content, content.url)
}

function labelsByPattern(labels: NonNullable<McpContent['labels']>): [string, string[]][] {
  return Object.entries(labels).map(([pattern, given]) => [pattern, labelsOf(given ?? {})])
}

function programOf(
  source: Source,
  name: string,
  { command = [], cwd, env, sandbox }: McpContent,
  ofAgent: SandboxSetting | undefined,
): McpCommand {
  const path = ['mcp', name]
  const {
    argv,
    cwd: folder,
    environment,
  } = commandOf(source, path, command, {
    cwd,
    environment: env,
    environmentKey: 'env',
  })
  const own = sandboxOf(source, [...path, 'sandbox'], sandbox) ?? ofAgent
  return {
    kind: 'command',
    argv,
    ...(folder !== undefined && { cwd: folder }),
    ...(environment && { environment }),
    ...(own !== undefined && { sandbox: own }),
  }
}

function addressOf(
  source: Source,
  name: string,
  { headers, auth }: McpContent,
  address: string,
): McpUrl {
  const path = ['mcp', name]
  const secrets: string[] = []
  return {
    kind: 'url',
    url: urlOf(source, [...path, 'url'], address, secrets) ?? 'http://invalid.invalid',
    headers: headers === undefined ? {} : headersOf(source, [...path, 'headers'], headers, secrets),
    ...(auth && { auth: authOf(source, [...path, 'auth'], auth, secrets) }),
    secrets,
  }
}

function authOf(
  source: Source,
  path: string[],
  { clientId = '', clientSecret = '', issuer, scope, tokenFile }: NonNullable<McpContent['auth']>,
  secrets: string[],
): NonNullable<McpUrl['auth']> {
  if (tokenFile !== undefined)
    return { tokenFile: referred(source, [...path, 'tokenFile'], tokenFile)?.path ?? '' }
  return {
    clientId: expanded(source, [...path, 'clientId'], clientId) ?? '',
    clientSecret: expanded(source, [...path, 'clientSecret'], clientSecret, secrets) ?? '',
    ...(issuer !== undefined && { issuer }),
    ...(scope !== undefined && { scope }),
  }
}
