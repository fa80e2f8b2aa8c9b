// Traces of kept bundles at a backend: a server that takes OTLP/JSON as a collector does.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { backendOf, sender } from '../../../apps/traces/send-spans.ts'
import type { Span } from '../../../apps/traces/span.ts'
import { traces } from '../../../apps/traces/traces.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { type BundleName, bundleFile } from '../replay/bundled-log.ts'

type Sent = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
}
type Body = { resourceSpans: { scopeSpans: { spans: Sent[] }[] }[] }

let spans: Sent[] = []
let headers: Record<string, unknown> = {}
let statuses: number[] = []
const server = createServer(async (request, response) => {
  headers = request.headers
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const status = statuses.shift() ?? 200
  if (status === 0) return // hangs
  response.writeHead(status, { location: 'http://127.0.0.1:9/' }).end('{}')
  if (status !== 200 || request.url !== '/v1/traces') return
  const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Body
  spans.push(...resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)))
})
let endpoint = ''

beforeEach(async () => {
  spans = []
  statuses = []
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const settings = readSettings({ logLevel: 'silent' }, {})
const one: Span = {
  trace: '0af7651916cd43dd8448eb211c80319c',
  id: 'b7ad6b7169203331',
  parent: undefined,
  name: 'chat',
  kind: 'client',
  start: 1,
  end: 2,
  attributes: {},
}

function send(bundle: BundleName): Promise<void> {
  return traces({ endpoint, since: 'beginning', bundle: bundleFile(bundle) }, settings)
}

describe('the traces of a bundle', () => {
  it.each<BundleName>(['i1-reflex-loop', 'i3-no-termination', 'i5-broken-schema'])(
    'of %s are one tree for each turn, without orphans',
    async (bundle) => {
      await send(bundle)
      const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
      const ids = new Set(spans.map(({ spanId }) => spanId))
      expect(roots.length).toBeGreaterThan(0)
      expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(roots.length)
      expect(
        spans.filter(({ parentSpanId = '' }) => parentSpanId !== '' && !ids.has(parentSpanId)),
      ).toEqual([])
      expect(ids.size).toBe(spans.length)
      expect(spans.length).toBeGreaterThan(roots.length)
      for (const { traceId, spanId, startTimeUnixNano, endTimeUnixNano } of spans) {
        expect(traceId).toMatch(/^[0-9a-f]{32}$/)
        expect(spanId).toMatch(/^[0-9a-f]{16}$/)
        expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano))
      }
    },
  )

  it('are the same when they are sent again', async () => {
    await send('i1-reflex-loop')
    const first = spans
    spans = []
    await send('i1-reflex-loop')
    expect(spans).toEqual(first)
  })
})

describe('a backend', () => {
  const never = new AbortController().signal
  const log = { warn: jest.fn() }
  const backend = (environment: NodeJS.ProcessEnv = {}) => backendOf(endpoint, environment)

  it('gets the spans again until it takes them', async () => {
    statuses = [503, 429]
    await sender(backend(), log)([one], never)
    expect(spans.map(({ spanId }) => spanId)).toEqual([one.id])
  })

  it('that refuses spans for good keeps no later span waiting', async () => {
    statuses = [400]
    await sender(backend(), log)([one], never)
    expect(log.warn).toHaveBeenLastCalledWith(
      { spans: 1, reason: 'status 400' },
      'the backend refuses these spans',
    )
    await sender(backend(), log)([one], never)
    expect(spans).toHaveLength(1)
  })

  it('that refuses spans of a bundle makes the command fail, with their number', async () => {
    statuses = [401]
    await expect(send('i1-reflex-loop')).rejects.toMatchObject({
      code: 'traces.refused',
      message: expect.stringMatching(/^the backend refused (\d+) of \1 spans; check --endpoint/),
    })
    expect(spans).toEqual([])
  })

  it('that is away for too long is an error with the reason and a remedy', async () => {
    statuses = [503]
    await expect(sender(backend(), log, 100)([one], never)).rejects.toMatchObject({
      code: 'traces.unreachable',
      message: expect.stringMatching(/\(status 503\): check --endpoint, or run the command again/),
    })
  })

  it('that hangs keeps nothing from stopping', async () => {
    statuses = [0]
    const stop = new AbortController()
    const sending = sender(backend(), log)([one], stop.signal)
    await new Promise((resolve) => server.once('request', resolve))
    stop.abort(new Error('stopped'))
    await expect(sending).rejects.toThrow('stopped')
  })

  it('gets the headers of the environment, and no redirect gets them', async () => {
    statuses = [307]
    const stop = new AbortController()
    const environment = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc, x-b=2' }
    const sending = sender(backend(environment), log)([one], stop.signal)
    await new Promise((resolve) => server.once('request', resolve))
    expect(headers).toMatchObject({ authorization: 'Basic abc', 'x-b': '2' })
    stop.abort(new Error('stopped'))
    await expect(sending).rejects.toThrow('stopped')
    expect(JSON.stringify(log.warn.mock.calls)).not.toContain('abc')
  })

  it.each([
    [undefined, {}, 'no backend is named'],
    ['localhost:4318', {}, 'not an http or https URL'],
    ['http://user:key@h', {}, 'holds a user or a password'],
    ['http://h', { OTEL_EXPORTER_OTLP_HEADERS: 'a=1,nothing' }, 'header 2 is not name=value'],
    ['http://h', { OTEL_EXPORTER_OTLP_HEADERS: 'a=100%' }, 'the value of a is not percent-encoded'],
  ])('at %p with %p is refused: %s', (given, environment, message) => {
    expect(() => backendOf(given, environment)).toThrow(message)
  })

  it.each([
    ['http://h:4318', {}, 'http://h:4318/v1/traces'],
    ['http://h/api/public/otel', {}, 'http://h/api/public/otel/v1/traces'],
    ['http://h/v1/traces', {}, 'http://h/v1/traces'],
    [undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h/' }, 'http://h/v1/traces'],
    [undefined, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://h/own' }, 'http://h/own'],
  ])('at %p with %p has the URL %s', (given, environment, url) => {
    expect(backendOf(given, environment).url).toBe(url)
  })

  it.each([
    ['http://h:4318', {}, 'http://h:4318/v1/metrics'],
    ['http://h/x/v1/traces', {}, 'http://h/x/v1/metrics'],
    ['http://h:4318/v1/metrics', {}, 'http://h:4318/v1/metrics'],
    ['http://h/v1/metrics/', {}, 'http://h/v1/metrics'],
    [undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h/' }, 'http://h/v1/metrics'],
    [undefined, { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://h/own' }, 'http://h/own'],
  ])('at %p with %p gets metrics at %s', (given, environment, url) => {
    expect(backendOf(given, environment, 'metrics').url).toBe(url)
  })

  it('whose variables are those of traces alone gets no metrics', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://h/own',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=a',
    }
    expect(() => backendOf(undefined, environment, 'metrics', '--metrics-endpoint')).toThrow(
      'no backend for metrics is named: give --metrics-endpoint',
    )
    expect(backendOf('http://h', environment, 'metrics').headers).toEqual({})
  })
})
