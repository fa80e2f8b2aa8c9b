// The plug-in of Cline, against a server that answers as the front of hooks.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'

type Builder = { build(messages: unknown[]): Promise<unknown[]> }

const seen: { kind: string; body: Record<string, unknown> }[] = []
/** The verdict of each call. Undefined: the test answers. */
let verdict: object | undefined = {}
const waiting: ServerResponse[] = []
let promptStatus = 200

const server = createServer(async (request, response) => {
  let text = ''
  for await (const piece of request) text += piece
  const kind = request.url?.split('/').at(-1) ?? ''
  seen.push({ kind, body: JSON.parse(text) })
  response.setHeader('x-weir-mark', 'weir/1')
  if (kind === 'prompt') response.statusCode = promptStatus
  if (kind === 'pre' && verdict === undefined) waiting.push(response)
  else response.end(JSON.stringify(kind === 'pre' ? verdict : {}))
})

let plugin: typeof import('../../integrations/cline/weir.ts')['default']
let build: Builder['build']

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  process.env.WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  process.env.WEIR_PROOF = 'off'
  plugin = (await import('../../integrations/cline/weir.ts')).default
  plugin.setup({
    registerMessageBuilder(builder: Builder) {
      build = builder.build
    },
  })
})
beforeEach(() => {
  seen.length = 0
  verdict = {}
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const snapshot = { agentId: 'a', conversationId: 'one', runId: 'first', messages: [] }
const called = (toolCallId: string, command: string, runId = 'first') => ({
  snapshot: { ...snapshot, runId },
  toolCall: { toolCallId, toolName: 'run_commands' },
  input: { commands: [command] },
})
const finished = (toolCallId: string, command: string) => ({
  ...called(toolCallId, command),
  result: { output: [{ query: command, result: 'done', success: true }] },
})
const denial = {
  hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'not here' },
}
const kinds = () => seen.map(({ kind }) => kind)
const reportedIds = () =>
  seen.flatMap(({ body }) =>
    ((body.tool_calls ?? []) as { tool_use_id: string }[]).map(({ tool_use_id: id }) => id),
  )

describe("Cline's plug-in", () => {
  it('lets a call run and reports its result', async () => {
    expect(await plugin.hooks.beforeTool(called('1', 'ls'))).toBeUndefined()
    await plugin.hooks.afterTool(finished('1', 'ls'))
    expect(kinds()).toEqual(['pre', 'batch'])
  })

  it('denies a call with the reason, and reports the denial once', async () => {
    verdict = denial
    const answer = await plugin.hooks.beforeTool(called('2', 'rm'))
    expect(answer).toEqual({ skip: true, reason: 'not here' })
    await plugin.hooks.afterTool(finished('2', 'rm'))
    expect(reportedIds()).toEqual(['2'])
  })

  it('denies a late call at first, holds the next request, and lets one equal call run', async () => {
    verdict = undefined
    const late = await plugin.hooks.beforeTool(called('3', 'deploy'))
    expect(late?.reason).toContain('make exactly this call again')
    await plugin.hooks.afterTool(finished('3', 'deploy'))
    expect(reportedIds()).toEqual([])

    let isBuilt = false
    const built = build([]).then(() => {
      isBuilt = true
    })
    verdict = denial // of each other call
    expect(await plugin.hooks.beforeTool(called('4', 'deploy', 'second'))).toMatchObject({
      skip: true,
    })
    expect(isBuilt).toBe(false)
    waiting.pop()?.end('{}')
    await built
    expect(await plugin.hooks.beforeTool(called('5', 'deploy'))).toBeUndefined()
    await plugin.hooks.afterTool(finished('5', 'deploy'))
    expect(reportedIds()).toEqual(['4', '3']) // Weir knows the call by its first id
    expect(await plugin.hooks.beforeTool(called('6', 'deploy'))).toMatchObject({ skip: true })
  })

  it('lets only one of two equal calls of a response run with a late verdict', async () => {
    verdict = undefined
    await plugin.hooks.beforeTool(called('8', 'release'))
    verdict = denial // of each other call
    waiting.pop()?.end('{}')
    await build([])
    const answers = await Promise.all(
      ['9', '10'].map((id) => plugin.hooks.beforeTool(called(id, 'release'))),
    )
    expect(answers).toEqual([undefined, { skip: true, reason: 'not here' }])
  })

  it('holds no request with the refusal of an earlier prompt', async () => {
    promptStatus = 503
    await expect(plugin.hooks.beforeRun({ snapshot })).rejects.toThrow('Weir does not answer')
    promptStatus = 200
    await plugin.hooks.beforeRun({ snapshot })
    expect(await build(['a message'])).toEqual(['a message'])
  })

  it('reports the result of a tool whose list has no objects', async () => {
    await plugin.hooks.beforeTool(called('11', 'ls'))
    await plugin.hooks.afterTool({ ...called('11', 'ls'), result: { output: [null] } })
    expect(kinds()).toEqual(['pre', 'batch'])
  })

  it('ends a run whose call cannot be judged, with the reason', async () => {
    verdict = undefined
    const answer = plugin.hooks.beforeTool(called('7', 'ls'))
    const [response] = await new Promise<ServerResponse[]>((resolve) => {
      const look = () => (waiting.length > 0 ? resolve(waiting.splice(0)) : setImmediate(look))
      look()
    })
    response?.writeHead(503).end()
    await expect(answer).rejects.toThrow('Weir does not answer')
  })
})
