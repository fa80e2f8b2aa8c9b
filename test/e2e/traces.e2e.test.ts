// `weir traces` next to running turns: the backend gets one tree for each turn, and the tool's own
// span would be a child of its call.

import { readFileSync } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../support/inbox.ts'
import { call, says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

type Sent = { traceId: string; spanId: string; parentSpanId?: string; name: string }

const spans: Sent[] = []
const metrics = new Set<string>()
const backend = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(Buffer.concat(chunks).toString())
  for (const { scopeMetrics } of resourceMetrics)
    for (const scope of scopeMetrics)
      for (const { name } of scope.metrics) metrics.add(`${request.url} ${name}`)
  for (const { scopeSpans } of resourceSpans)
    for (const scope of scopeSpans) spans.push(...scope.spans)
  response.end('{}')
})

let commands: CommandFolder
let endpoint = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
  commands = await openCommandFolder((request) =>
    request.messages.length === 1 ? says(call('note', {})) : says(text('Done.')),
  )
  await writeFile(
    join(commands.folder, 'note.sh'),
    'cat > /dev/null; echo "$TRACEPARENT" > traceparent; echo noted',
  )
  await appendFile(
    join(commands.folder, 'agent.yaml'),
    '  - { name: note, description: notes its place, schema: { type: object }, cwd: ., command: [sh, note.sh], traceparent: true }\n',
  )
})
afterAll(async () => {
  backend.closeAllConnections()
  backend.close()
  await commands.close()
})

const ask = (conversation: string) =>
  commands.run(['ask', '--agent', 'agent.yaml', '--conversation', conversation, 'note it'])

describe('weir traces', () => {
  it('sends the turns of the past and, while it runs, the new ones, each as one tree', async () => {
    await ask('before')
    const flags = ['--endpoint', endpoint, '--agents', 'agent.yaml', '--metrics']
    const running = commands.start(['traces', ...flags])
    await until(() => spans.length >= 4)
    await ask('after')
    await until(() => spans.length >= 8)
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0 })
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
    expect(roots).toHaveLength(2)
    for (const { traceId, spanId } of roots) {
      const children = spans.filter((one) => one.parentSpanId === spanId)
      expect(children.map(({ name }) => name)).toEqual([
        'chat scripted',
        'execute_tool note',
        'chat scripted',
      ])
      expect(new Set(children.map((one) => one.traceId))).toEqual(new Set([traceId]))
    }
    expect(metrics).toContain('/v1/metrics gen_ai.client.inference.duration')
    expect(metrics).toContain('/v1/metrics gen_ai.execute_tool.duration')
  })

  it('gives a tool that wants it the ids of its call', () => {
    const written = readFileSync(join(commands.folder, 'traceparent'), 'utf8').trim()
    const last = spans.filter(({ name }) => name === 'execute_tool note').at(-1)
    expect(written).toBe(`00-${last?.traceId}-${last?.spanId}-01`)
  })

  it('sends the same ids again, and ends with --once', async () => {
    const known = new Set(spans.map(({ spanId }) => spanId))
    const before = spans.length
    expect(await commands.run(['traces', '--endpoint', endpoint, '--once'])).toMatchObject({
      code: 0,
    })
    expect(spans.length).toBe(before * 2)
    expect(new Set(spans.map(({ spanId }) => spanId))).toEqual(known)
  })

  it('names the way to a backend if none is given', async () => {
    const { code, errors } = await commands.run(['traces'])
    expect({ code, errors }).toEqual({
      code: 2,
      errors: expect.stringContaining('no backend is named: give --endpoint http://localhost:4318'),
    })
  })
})
