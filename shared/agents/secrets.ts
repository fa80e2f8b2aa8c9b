// The secrets of agents: values that a result, a record or a log must never contain.
// Sources: the values of `${NAME}` and `${file:…}` in URLs and headers, keys of models, and variables
// with a telling name that a tool sees.

import { isCredential } from '../lib/log/secret-mask.ts'
import type { Agents, CommandTool, HttpTool, McpServer, Model, ToolRun } from './agents.ts'
import { variableValue } from './file/variables.ts'

const telling = /auth|key|token|secret|pass|credential|cookie|session|signature/i
const harmless = /^(accept|accept-.*|content-.*|user-agent|cache-control)$/i
/** The least characters of a credential in a header or a query that a program wrote. */
const tellingMin = 8
const otherMin = 16

/** `environment`: the one that tools get their variables from. */
export function secretsOf(agents: Agents, environment: NodeJS.ProcessEnv = process.env): string[] {
  const found = [...agents.values()].flatMap(({ model, tools, mcp = [] }) => [
    ...secretsOfModel(model),
    ...mcp.flatMap(({ run }) => secretsOfServer(run, environment)),
    ...tools.flatMap(({ run }) => secretsOfTool(run, environment)),
  ])
  return [...new Set(found)].filter((secret) => secret !== '')
}

export function secretsOfModel({ apiKey, secrets = [] }: Model): string[] {
  return [apiKey, ...secrets]
}

/** The secrets that no honest answer contains. Other headers may have ordinary words, such as a URL. */
export function keysOfModel({ apiKey, baseUrl = '', headers = {} }: Model): string[] {
  return [apiKey, ...wordsIn({ url: baseUrl, headers }, (name) => telling.test(name))]
}

/**
 * The secrets in the request of a client to a model. The ids of sessions and of repeats are none: texts
 * may have them.
 */
export function secretsOfRequest({
  headers,
  path,
}: {
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** With the query. */
  path: string
}): string[] {
  const named = Object.entries(headers).flatMap(([name, value = '']) =>
    notSecret.test(name) ? [] : [[name, String(value)] as const],
  )
  return wordsIn(
    { url: URL.parse(path, 'http://upstream')?.href ?? '', headers: Object.fromEntries(named) },
    (name) => telling.test(name),
  )
}

const notSecret = /session|idempotency/i

/**
 * The keys in an environment, such as that of a host which started a front. A variable with the name of a
 * place or a short value, such as a count of tokens, has none.
 */
export function secretsOfEnvironment(environment: NodeJS.ProcessEnv): string[] {
  const isKey = ([name, value = '']: [string, string | undefined]) =>
    namesKey.test(name) && !namesPlace.test(name) && isCredential(value)
  return Object.entries(environment)
    .filter(isKey)
    .map(([, value = '']) => value)
}

const namesKey = /auth|key|token|secret|pass|credential/i
const namesPlace = /(sock|authority|file|path|folder|dir|home|url|uri|command|askpass|control)$/i

/** The same for servers without an agent. */
export function secretsOfServers(
  servers: readonly McpServer[],
  environment: NodeJS.ProcessEnv,
): string[] {
  const found = servers.flatMap(({ run }) => secretsOfServer(run, environment))
  return [...new Set(found)].filter((secret) => secret !== '')
}

function secretsOfTool(run: ToolRun, environment: NodeJS.ProcessEnv): string[] {
  if (run.kind === 'function' || run.kind === 'mcp' || run.kind === 'client') return []
  if (run.kind === 'http') return run.secrets ?? writtenSecrets(run)
  return secretsIn(run, environment)
}

function secretsOfServer(run: McpServer['run'], environment: NodeJS.ProcessEnv): string[] {
  if (run.kind === 'elsewhere') return []
  if (run.kind === 'command') return secretsIn(run, environment)
  const { auth } = run
  const own = auth !== undefined && 'clientSecret' in auth ? [auth.clientSecret] : []
  return [...(run.secrets ?? writtenSecrets(run)), ...own]
}

function secretsIn(
  run: Pick<CommandTool, 'environment'>,
  environment: NodeJS.ProcessEnv,
): string[] {
  return (run.environment ?? [])
    .filter((name) => telling.test(name))
    .map((name) => variableValue(name, environment) ?? '')
}

/**
 * For a tool that a program made: nothing tells which part of a URL or a header came from a
 * variable. A name identifies most credentials. In other headers, a long value without a space may
 * be one.
 */
export function writtenSecrets({ url, headers }: Pick<HttpTool, 'url' | 'headers'>): string[] {
  return wordsIn({ url, headers }, (name) => !harmless.test(name))
}

/** The long values of headers and of a query, whole and in words. */
function wordsIn(
  { url, headers }: Pick<HttpTool, 'url' | 'headers'>,
  isMeant: (name: string) => boolean,
): string[] {
  const named = [...Object.entries(headers), ...(URL.parse(url)?.searchParams ?? [])]
  return named.flatMap(([name, value]) => {
    if (!isMeant(name)) return []
    const min = telling.test(name) ? tellingMin : otherMin
    return [value.trim(), ...value.split(/[\s,;="]+/)].filter((word) => word.length >= min)
  })
}
