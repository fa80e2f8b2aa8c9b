// The server that a resource belongs to. A resource keeps its address behind a gateway with several
// servers, so the address alone names no server.
// An address goes to its owner only, because it may hold a secret. The owner has
// listed the address, has linked the address, or has listed a fitting template, in this order.
// An address with two owners of one kind is refused.
// A template owns addresses of a literal scheme, and of a literal host on the web.
// Before a template decides, all lists are read, because a list counts more.
// A server that does not answer keeps its last lists.
// Templates beyond mcpTemplateCharsMax of one server own nothing, so no
// server slows its neighbours' reads.

import type {
  CallToolResult,
  Client,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/client'
import { RE2JS } from 're2js'
import type { McpServer } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'

/** Links to resources in results of MCP servers whose server a gateway remembers. */
const mcpLinksMax = 1024
/** Characters of the resource templates of an MCP server that own addresses behind a gateway. */
export const mcpTemplateCharsMax = 4 * 1024

export type ResourceOwners = {
  /** The lists of all servers now. */
  resources(): Promise<Resource[]>
  templates(): Promise<ResourceTemplateType[]>
  /** Rejects with an error of the protocol if the address has no owner or several. */
  ofAddress(uri: string): Promise<McpServer>
  /** The same for a template or an address, as completions name them. */
  ofTemplate(uriTemplate: string): Promise<McpServer>
  /** Remembers the links in a result of the server. */
  noteLinks(server: McpServer, result: CallToolResult): void
}

/** `patterns`: of the templates that own addresses, compiled once for each list. */
type Lists = {
  addresses: ReadonlySet<string>
  templates: readonly string[]
  patterns: readonly RE2JS[]
}

/** `isByTemplate`: nothing but a fitting template names the servers, perhaps none. */
type Owners = { servers: readonly McpServer[]; isByTemplate: boolean }

const noLists: Lists = { addresses: new Set(), templates: [], patterns: [] }

/** `servers`: those with resources. `isAlone`: there is no other server, which owns all addresses. */
export function resourceOwners(
  servers: () => readonly McpServer[],
  clientOf: (server: McpServer) => Promise<Client>,
  isAlone: boolean,
): ResourceOwners {
  const lists = new Map<McpServer, Lists>()
  const links = new Map<string, Set<McpServer>>()

  async function each<T>(list: (server: McpServer, client: Client) => Promise<T[]>): Promise<T[]> {
    const all = await Promise.allSettled(
      servers().map(async (server) => {
        const client = await clientOf(server)
        return client.getServerCapabilities()?.resources === undefined ? [] : list(server, client)
      }),
    )
    const [only] = all
    if (all.length === 1 && only?.status === 'rejected') throw only.reason
    return all.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  }

  const resources = () =>
    each(async (server, client) => {
      const { resources: listed } = await client.listResources(undefined, bounded)
      const addresses = new Set(listed.map(({ uri }) => uri))
      lists.set(server, { ...(lists.get(server) ?? noLists), addresses })
      return listed
    })

  const templates = () =>
    each(async (server, client) => {
      const { resourceTemplates: listed } = await client.listResourceTemplates(undefined, bounded)
      const texts = listed.map(({ uriTemplate }) => uriTemplate)
      const patterns = patternsOf(texts)
      lists.set(server, { ...(lists.get(server) ?? noLists), templates: texts, patterns })
      return listed
    })

  const having = (has: (of: Lists) => boolean) =>
    servers().filter((server) => has(lists.get(server) ?? noLists))

  function owners(uri: string): Owners {
    const listing = having(({ addresses }) => addresses.has(uri))
    if (listing.length > 0) return { servers: listing, isByTemplate: false }
    const linking = [...(links.get(uri) ?? [])]
    if (linking.length > 0) return { servers: linking, isByTemplate: false }
    const isShort = uri.length <= addressCharactersMax
    const fitting = having((of) => isShort && of.patterns.some((pattern) => pattern.matches(uri)))
    return { servers: fitting, isByTemplate: true }
  }

  async function only(find: () => Owners, what: string): Promise<McpServer> {
    const [alone] = servers()
    if (isAlone && alone !== undefined) return alone
    if (find().isByTemplate) await Promise.allSettled([resources(), templates()])
    const [owner, ...others] = find().servers
    if (owner === undefined) throw refusal(`no server has listed ${what}`)
    if (others.length === 0) return owner
    const names = [owner, ...others].map(({ name }) => name).join(', ')
    throw refusal(`several servers have listed ${what}: ${names}`)
  }

  return {
    resources,
    templates,
    ofAddress: (uri) => only(() => owners(uri), 'this resource'),
    ofTemplate: (text) =>
      only(() => {
        const listing = having(({ templates: listed }) => listed.includes(text))
        return listing.length > 0 ? { servers: listing, isByTemplate: false } : owners(text)
      }, 'this template'),
    noteLinks(server, { content = [] }) {
      for (const block of content) {
        const uri = linkedBy(block)
        if (uri === undefined || uri.length > addressCharactersMax) continue
        links.set(uri, new Set(links.get(uri)).add(server))
        const [oldest] = links.keys()
        if (links.size > mcpLinksMax && oldest !== undefined) links.delete(oldest)
      }
    },
  }
}

const bounded = { timeout: limits.mcpAnswerMsMax }
const addressCharactersMax = 8_192

function refusal(text: string): Error {
  return Object.assign(new Error(text), { code: invalidParams })
}

const invalidParams = -32602

/** The text that an expression of a template (RFC 6570) can stand for, by its operator. */
const expansions: Record<string, string> = {
  '+': '.*',
  '#': '(?:#.*)?',
  '.': '(?:\\.[^/?#]*)?',
  '/': '(?:/[^?#]*)?',
  ';': '(?:;[^/?#]*)?',
  '?': '(?:\\?[^#]*)?',
  '&': '(?:&[^#]*)?',
}

/** The beginning of a template that owns addresses. */
const ownedBeginning = /^(?:(?!https?:|wss?:|ftps?:)[a-z][a-z0-9+.-]*:|[a-z]+:\/\/[^{}/?#]+\/)/i

/** The time of a match grows with the characters of all templates. */
function patternsOf(templates: readonly string[]): RE2JS[] {
  let characters = 0
  return templates.flatMap((template) => {
    characters += template.length
    const owns = characters <= mcpTemplateCharsMax && ownedBeginning.test(template)
    return owns ? [patternOf(template)] : []
  })
}

function patternOf(template: string): RE2JS {
  const source = template
    .split(/(\{[^{}]*\})/)
    .map((piece) =>
      piece.startsWith('{') && piece.endsWith('}')
        ? (expansions[piece.charAt(1)] ?? '[^/?#]*')
        : RE2JS.quote(piece),
    )
    .join('')
  return RE2JS.compile(`(?s)${source}`)
}

type Block = NonNullable<CallToolResult['content']>[number]

function linkedBy(block: Block): string | undefined {
  if (block.type === 'resource_link') return block.uri
  return block.type === 'resource' ? block.resource.uri : undefined
}
