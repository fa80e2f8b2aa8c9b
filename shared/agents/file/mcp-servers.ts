// The MCP servers of a gateway, from a file: the key `mcp` of agent files, or `mcpServers` as hosts
// write it. All mistakes are reported at once, each with its place.
// The file has names of variables, never their values.

import { dirname, resolve } from 'node:path'
import { limits } from '../../contract/limits.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { readDocument } from '../../settings/document.ts'
import { cannotUse, kindOf, type Mistake, type Path, shown } from '../../settings/mistake.ts'
import { readText } from '../../settings/text-file.ts'
import type { McpServer } from '../agents.ts'
import { mcpOf } from './parts/mcp-part.ts'
import { schemaMistakes } from './schema-mistakes.ts'
import { noProviders, type Source } from './source.ts'

/** Throws `agent.invalid` with every mistake. `environment`: the values of `${NAME}`. */
export function loadMcpServers(file: string, environment: NodeJS.ProcessEnv): McpServer[] {
  const whole = (text: string, line = 1) => cannotUse([{ file, line, column: 1, path: [], text }])
  const content = readText(file, limits.agentFileBytesMax)
  if ('fault' in content) throw whole(content.fault, content.line)
  const { document, mistakes } = readDocument(file, content.text)
  if (document === undefined) throw cannotUse(mistakes)
  const found = serversIn(document.value)
  if (found === undefined)
    throw whole('must be a mapping with mcpServers, as hosts write it, or with mcp')
  const { root, servers, trust } = found
  const add = (path: Path, text: string, part?: 'key' | 'value') => {
    const own = path[0] === 'mcp' ? [root, ...path.slice(1)] : path
    mistakes.push({ file, ...document.placeOf(own, part), path: own, text } satisfies Mistake)
  }
  const mcp = root === 'mcp' ? servers : ofHost(servers, add)
  const checked = schemaMistakes({ mcp, ...(trust !== undefined && { trust }) })
  for (const { path, text, part } of checked.mistakes)
    if (path[0] === 'mcp' || path[0] === 'trust') add(path, text, part)
  const source: Source = {
    ...noProviders,
    file,
    folder: resolve(dirname(file)),
    environment,
    refuse: (path, text) => add(path, text),
    report: (others) => mistakes.push(...others),
  }
  const loaded = mcpOf(source, checked.content)
  if (mistakes.length === 0 && loaded.length === 0) throw whole('has no server; add one')
  if (mistakes.length > 0) throw cannotUse(mistakes)
  return loaded
}

function serversIn(
  value: unknown,
): { root: 'mcp' | 'mcpServers'; servers: unknown; trust: unknown } | undefined {
  if (!isObject(value)) return undefined
  const { mcp, mcpServers, trust } = value
  if (mcpServers !== undefined) return { root: 'mcpServers', servers: mcpServers, trust }
  return mcp === undefined ? undefined : { root: 'mcp', servers: mcp, trust }
}

type Add = (path: Path, text: string) => void

/** The servers as a host writes them, in the form of agent files. */
function ofHost(servers: unknown, add: Add): unknown {
  if (!isObject(servers)) return servers
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      isObject(server) ? serverOfHost(server, ['mcp', name], add) : server,
    ]),
  )
}

function serverOfHost(
  { type, command, args, env, ...rest }: Record<string, unknown>,
  path: Path,
  add: Add,
): unknown {
  if (type !== undefined && !hostTypes.has(String(type)))
    add([...path, 'type'], `is ${shown(type)}; must be stdio or http`)
  if (args !== undefined && !Array.isArray(args))
    add([...path, 'args'], `is ${kindOf(args)}; must be a list of texts`)
  const argv =
    typeof command === 'string' ? [command, ...(Array.isArray(args) ? args : [])] : command
  return {
    ...rest,
    ...(argv !== undefined && { command: argv }),
    ...(env !== undefined && { env: isObject(env) ? namesIn(env, [...path, 'env'], add) : env }),
  }
}

const hostTypes = new Set(['stdio', 'http', 'streamable-http'])

function namesIn(env: Record<string, unknown>, path: Path, add: Add): string[] {
  for (const [name, value] of Object.entries(env))
    if (value !== `\${${name}}`)
      add(
        [...path, name],
        `must be "\${${name}}": the file names variables, and their values are set where Weir runs`,
      )
  return Object.keys(env)
}
