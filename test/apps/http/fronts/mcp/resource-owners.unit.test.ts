import { expect, it } from '@jest/globals'
import type { Client } from '@modelcontextprotocol/client'
import { resourceOwners } from '../../../../../apps/http/fronts/mcp/resource-owners.ts'
import type { McpServer } from '../../../../../shared/agents/agents.ts'

it('a template with many expressions and the 65th template of a server own no address', async () => {
  const templates = [
    `doc:many/${'{a}'.repeat(17)}`,
    ...Array.from({ length: 62 }, (_, n) => `doc:${n}/{a}`),
    'doc:last/{a}',
    'doc:further/{a}',
  ]
  const client = {
    getServerCapabilities: () => ({ resources: {} }),
    listResources: async () => ({ resources: [] }),
    listResourceTemplates: async () => ({
      resourceTemplates: templates.map((uriTemplate) => ({ name: 't', uriTemplate })),
    }),
  } as unknown as Client
  const server = { name: 's' } as McpServer
  const owners = resourceOwners(
    () => [server],
    async () => client,
    false,
  )
  for (const uri of ['doc:many/x', 'doc:further/x'])
    await expect(owners.ofAddress(uri)).rejects.toThrow('no server has listed this resource')
  for (const uri of ['doc:0/x', 'doc:last/x']) expect(await owners.ofAddress(uri)).toBe(server)
  expect(await owners.ofTemplate('doc:further/{a}')).toBe(server)
})
