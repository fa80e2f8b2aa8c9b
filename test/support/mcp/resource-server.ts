// An MCP server that lists the resources of its arguments, and answers each address. `{` in an argument
// makes a template of it. The tool `link` links the address that it gets. Each address that the server
// sees is a line of MCP_JOURNAL. `node resource-server.ts NAME ADDRESS...` serves on standard input.

import { appendFileSync } from 'node:fs'
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const [name = '', ...listed] = process.argv.slice(2)
const isTemplate = (address: string) => address.includes('{')

serveStdio(() => {
  const server = new Server(
    { name, version: '1' },
    { capabilities: { tools: {}, resources: {}, completions: {} } },
  )
  function answered(uri: string): string {
    appendFileSync(process.env.MCP_JOURNAL ?? '', `${name} ${uri}\n`)
    return `by ${name}`
  }
  const inputSchema = { type: 'object' as const, properties: { uri: { type: 'string' } } }
  server.setRequestHandler('tools/list', async () => ({ tools: [{ name: 'link', inputSchema }] }))
  server.setRequestHandler('tools/call', async ({ params }) => ({
    content: [{ type: 'resource_link', name: 'link', uri: String(params.arguments?.uri) }],
  }))
  server.setRequestHandler('resources/list', async () => ({
    resources: listed.filter((uri) => !isTemplate(uri)).map((uri) => ({ name: uri, uri })),
  }))
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: listed.filter(isTemplate).map((uriTemplate) => ({ name, uriTemplate })),
  }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => ({
    contents: [{ uri, text: answered(uri) }],
  }))
  server.setRequestHandler('completion/complete', async ({ params: { ref } }) => ({
    completion: { values: [answered('uri' in ref ? ref.uri : '')] },
  }))
  return server
})
