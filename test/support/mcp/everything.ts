// An MCP server with all that the conformance suite asks of a server that passes no request on to its
// host, and 200 tools. `node everything.ts` serves on standard input and output.

import { setTimeout as sleep } from 'node:timers/promises'
import { type CallToolResult, Server, type Tool } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const text = (words: string) => ({ type: 'text' as const, text: words })
const image = { type: 'image' as const, data: png, mimeType: 'image/png' }
const resource = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
})

/** The tools of the suite. The names of the 200 others have a dot, which MCP allows. */
const answers: Record<string, CallToolResult> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: {
    content: [{ type: 'audio', data: 'UklGRiQAAABXQVZF', mimeType: 'audio/wav' }],
  },
  test_embedded_resource: {
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource.')],
  },
  test_multiple_content_types: {
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data"}'),
    ],
  },
  test_error_handling: {
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  },
  test_tool_with_progress: { content: [text('done')] },
}

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const tools: Tool[] = [
  ...Object.keys(answers).map((name) => ({
    name,
    description: `Answers as ${name}.`,
    inputSchema: { type: 'object' as const },
  })),
  { name: 'json_schema_2020_12_tool', description: 'Has keywords.', inputSchema: schema2020 },
  ...Array.from({ length: 200 }, (_, n) => ({
    name: `tool.${n}`,
    description: `The tool number ${n}.`,
    inputSchema: { type: 'object' as const, properties: { n: { type: 'number' } } },
  })),
]

const userSays = (...content: object[]) =>
  content.map((one) => ({ role: 'user' as const, content: one }))

/** The messages of each prompt of the suite, and of one more. */
const prompts: Record<string, (values: Record<string, string>) => object[]> = {
  greet: ({ who }) => userSays(text(`Greet ${who}.`)),
  test_simple_prompt: () => userSays(text('This is a simple prompt for testing.')),
  test_prompt_with_arguments: ({ arg1, arg2 }) =>
    userSays(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  test_prompt_with_embedded_resource: ({ resourceUri = '' }) =>
    userSays(resource(resourceUri, 'text/plain', 'Embedded.'), text('Please process it.')),
  test_prompt_with_image: () => userSays(image, text('Please analyze the image above.')),
}
const argumentsOf: Record<string, string[]> = {
  greet: ['who'],
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
}

function contentsOf(uri: string): object {
  const [, id] = /^test:\/\/template\/(.+)\/data$/.exec(uri) ?? []
  if (id !== undefined) return { uri, mimeType: 'application/json', text: JSON.stringify({ id }) }
  if (uri === 'test://static-text') return { uri, mimeType: 'text/plain', text: 'static text' }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: png }
  throw Object.assign(new Error('Resource not found'), { code: -32602, data: { uri } })
}

function everything(): Server {
  const server = new Server(
    { name: 'everything', version: '1' },
    { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} } },
  )
  server.setRequestHandler('tools/list', async () => ({ tools }))
  server.setRequestHandler('tools/call', async ({ params: { name, _meta } }, { mcpReq }) => {
    const progressToken = _meta?.progressToken
    if (name === 'test_tool_with_progress' && progressToken !== undefined)
      for (const progress of [0, 50, 100]) {
        const params = { progressToken, progress, total: 100 }
        await mcpReq.notify({ method: 'notifications/progress', params })
        await sleep(50)
      }
    return answers[name] ?? { content: [text(name)] }
  })
  server.setRequestHandler('resources/list', async () => ({
    resources: [
      { name: 'text', uri: 'test://static-text', mimeType: 'text/plain' },
      { name: 'binary', uri: 'test://static-binary', mimeType: 'image/png' },
    ],
  }))
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: [{ name: 'template', uriTemplate: 'test://template/{id}/data' }],
  }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => ({
    contents: [contentsOf(uri) as never],
  }))
  server.setRequestHandler('prompts/list', async () => ({
    prompts: Object.keys(prompts).map((name) => ({
      name,
      description: `The prompt ${name}.`,
      arguments: (argumentsOf[name] ?? []).map((one) => ({ name: one, required: true })),
    })),
  }))
  server.setRequestHandler('prompts/get', async ({ params }) => ({
    messages: (prompts[params.name]?.(params.arguments ?? {}) ?? []) as never,
  }))
  server.setRequestHandler('completion/complete', async ({ params }) => ({
    completion: { values: [`${params.argument.value}!`] },
  }))
  return server
}

serveStdio(everything)
