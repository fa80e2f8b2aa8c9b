// Resources, prompts and completions of the servers behind a gateway: they pass unchanged and
// unjudged. With several servers a prompt is SERVER__PROMPT, and a resource keeps its address. Its
// owner reads it (resource-owners.ts).

import type { Client } from '@modelcontextprotocol/client'
import type { Server, ServerCapabilities } from '@modelcontextprotocol/server'
import type { McpServer } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Upstreams } from './upstreams.ts'

export type PassThrough = {
  capabilities: Pick<ServerCapabilities, 'resources' | 'prompts' | 'completions'>
  /** Adds the handlers of the capabilities. */
  serve(server: Server): void
}

type Passed = 'resources' | 'prompts' | 'completions'

/** A server that does not answer has none of them until its host connects again. */
export async function passThrough(upstreams: Upstreams): Promise<PassThrough> {
  const having: Record<Passed, McpServer[]> = { resources: [], prompts: [], completions: [] }
  for (const one of upstreams.servers()) {
    const client = await upstreams.client(one).catch(() => undefined)
    const has = client?.getServerCapabilities()
    for (const kind of ['resources', 'prompts', 'completions'] as const)
      if (has?.[kind] !== undefined) having[kind].push(one)
  }

  /** Empty for a server that does not answer: its neighbours stay usable. */
  async function eachWithPrompts<T>(list: (client: Client, server: McpServer) => Promise<T[]>) {
    const lists = await Promise.allSettled(
      having.prompts.map(async (one) => list(await upstreams.client(one), one)),
    )
    const first = lists.find((one) => one.status === 'rejected')
    if (first !== undefined && lists.length === 1) throw first.reason
    return lists.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  }

  const promptName = (server: McpServer, name: string) =>
    upstreams.isPrefixed ? `${server.name}__${name}` : name

  function promptOf(name: string): { server: McpServer; own: string } {
    for (const server of having.prompts) {
      const prefix = promptName(server, '')
      if (name.startsWith(prefix)) return { server, own: name.slice(prefix.length) }
    }
    throw Object.assign(new Error('no server has this prompt'), { code: invalidParams })
  }

  return {
    capabilities: {
      ...(having.resources.length > 0 && { resources: {} }),
      ...(having.prompts.length > 0 && { prompts: {} }),
      ...(having.completions.length > 0 && { completions: {} }),
    },
    serve(server) {
      if (having.resources.length > 0) {
        const { resources: owners } = upstreams
        server.setRequestHandler('resources/list', async () => ({
          resources: await owners.resources(),
        }))
        server.setRequestHandler('resources/templates/list', async () => ({
          resourceTemplates: await owners.templates(),
        }))
        server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
          const client = await upstreams.client(await owners.ofAddress(uri))
          return client.readResource({ uri }, bounded)
        })
      }
      if (having.prompts.length > 0) {
        server.setRequestHandler('prompts/list', async () => ({
          prompts: await eachWithPrompts(async (client, one) =>
            (await client.listPrompts(undefined, bounded)).prompts.map((prompt) => ({
              ...prompt,
              name: promptName(one, prompt.name),
            })),
          ),
        }))
        server.setRequestHandler('prompts/get', async ({ params }) => {
          const { server: one, own } = promptOf(params.name)
          const { arguments: values } = params
          const request = { name: own, ...(values && { arguments: values }) }
          return (await upstreams.client(one)).getPrompt(request, bounded)
        })
      }
      if (having.completions.length > 0)
        server.setRequestHandler('completion/complete', async ({ params }) => {
          const { ref, argument, context } = params
          const rest = { argument, ...(context && { context }) }
          if (ref.type === 'ref/resource') {
            const client = await upstreams.client(await upstreams.resources.ofTemplate(ref.uri))
            return client.complete({ ref, ...rest }, bounded)
          }
          const { server: one, own } = promptOf(ref.name)
          const client = await upstreams.client(one)
          return client.complete({ ref: { ...ref, name: own }, ...rest }, bounded)
        })
    },
  }
}

const invalidParams = -32602
const bounded = { timeout: limits.mcpAnswerMsMax }
