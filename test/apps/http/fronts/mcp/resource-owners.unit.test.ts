import { expect, test } from '@jest/globals'
import {
  mcpTemplateCharsMax,
  resourceOwners,
} from '../../../../../apps/http/fronts/mcp/resource-owners.ts'

test('templates beyond the characters of one server own nothing, and a neighbour keeps its resources', async () => {
  const filler = Array.from({ length: 8 }, (_, n) => `doc:${n}`.padEnd(mcpTemplateCharsMax / 8))
  const templates = {
    long: ['doc:early/{id}', ...filler, 'doc:late/{id}', 'doc:shared/{id}'],
    short: ['doc:shared/{id}'],
  }
  const servers = Object.entries(templates).map(([name, uriTemplates]) => ({ name, uriTemplates }))
  const clientOf = async ({ uriTemplates }: (typeof servers)[number]) => ({
    getServerCapabilities: () => ({ resources: {} }),
    listResources: async () => ({ resources: [] }),
    listResourceTemplates: async () => ({
      resourceTemplates: uriTemplates.map((uriTemplate) => ({ name: 't', uriTemplate })),
    }),
  })
  const owners = resourceOwners(() => servers as never, clientOf as never, false)
  expect((await owners.ofAddress('doc:early/1')).name).toBe('long')
  await expect(owners.ofAddress('doc:late/1')).rejects.toThrow('no server has listed this resource')
  expect((await owners.ofAddress('doc:shared/1')).name).toBe('short')
  expect((await owners.ofTemplate('doc:late/{id}')).name).toBe('long')
})
