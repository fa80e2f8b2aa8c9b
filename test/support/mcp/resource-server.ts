// An MCP server that lists the resources of its arguments, and answers each address. `{` in an argument
// makes a template of it. The tool `link` links the address that it gets, and `say` repeats a text. The
// description of `say` is MCP_TEXT. Each address that the server sees is a line of MCP_JOURNAL. `node
// resource-server.ts NAME ADDRESS...` serves on standard input.

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
  const description = process.env.MCP_TEXT ?? ''
  server.setRequestHandler('tools/list', async () => ({
    tools: [
      { name: 'link', inputSchema },
      { name: 'say', description, inputSchema: { type: 'object', description } },
    ],
  }))
  server.setRequestHandler('tools/call', async ({ params: { name: tool, arguments: given } }) => ({
    content: [
      tool === 'link'
        ? { type: 'resource_link', name: 'link', uri: String(given?.uri) }
        : { type: 'text', text: String(given?.text) },
    ],
    ...(tool === 'say' && { structuredContent: { said: given?.text } }),
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
