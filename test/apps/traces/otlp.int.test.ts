// Requests in OTLP, and a backend that takes no JSON.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { encodedRequest } from '../../../apps/traces/otlp.ts'
import { backendOf, sender } from '../../../apps/traces/send-spans.ts'
import type { Span } from '../../../apps/traces/span.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'

describe('a request in JSON', () => {
  it('has the ids, times and attributes of a span as OTLP names them', () => {
    const span: Span = {
      trace,
      id: 'b7ad6b7169203331',
      parent: '00f067aa0ba902b7',
      name: 'chat m',
      kind: 'client',
      start: 1_700_000_000_123,
      end: 1_700_000_001_000,
      attributes: { text: 'a\ud800', number: 300, flag: true, list: ['stop'], none: undefined },
      events: [{ name: 'weir.call_denied', time: 1_700_000_000_500, attributes: {} }],
      error: 'no',
    }
    const { bytes } = encodedRequest(
      { signal: 'traces', resource: { 'service.name': 'weir' }, spans: [span, span] },
      { isBinary: false },
    )
    const { resourceSpans } = JSON.parse(Buffer.from(bytes).toString())
    const [{ resource, scopeSpans }] = resourceSpans
    expect(resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: 'weir' } }])
    expect(scopeSpans).toMatchObject([{ scope: { name: 'weir' }, spans: [{}, {}] }])
    expect(scopeSpans[0].spans[0]).toMatchObject({
      traceId: trace,
      spanId: 'b7ad6b7169203331',
      parentSpanId: '00f067aa0ba902b7',
      name: 'chat m',
      kind: 3,
      startTimeUnixNano: '1700000000123000000',
      endTimeUnixNano: '1700000001000000000',
      attributes: [
        { key: 'text', value: { stringValue: 'a\ufffd' } },
        { key: 'number', value: { intValue: 300 } },
        { key: 'flag', value: { boolValue: true } },
        { key: 'list', value: { arrayValue: { values: [{ stringValue: 'stop' }] } } },
      ],
      events: [{ name: 'weir.call_denied', timeUnixNano: '1700000000500000000' }],
      status: { code: 2, message: 'no' },
    })
  })

  it('has the sums, gauges and histograms of metrics since the start', () => {
    const attributes = { stage: 'executor' }
    const { bytes } = encodedRequest(
      {
        signal: 'metrics',
        resource: {},
        since: 1_000,
        at: 9_000,
        metrics: [
          { name: 's', unit: '', kind: 'sum', points: [{ attributes, value: 2 }] },
          { name: 'g', unit: '', kind: 'gauge', points: [{ attributes, value: 0 }] },
          {
            name: 'h',
            unit: 's',
            kind: 'histogram',
            bounds: [1],
            points: [{ attributes, count: 2, sum: 6, buckets: [0, 2] }],
          },
        ],
      },
      { isBinary: false },
    )
    const { resourceMetrics } = JSON.parse(Buffer.from(bytes).toString())
    const times = { startTimeUnixNano: '1000000000', timeUnixNano: '9000000000' }
    const cumulative = { aggregationTemporality: 2 }
    expect(resourceMetrics[0].scopeMetrics[0].metrics).toMatchObject([
      { name: 's', sum: { isMonotonic: true, dataPoints: [{ asDouble: 2, ...times }] } },
      { name: 'g', gauge: { dataPoints: [{ asDouble: 0 }] } },
      {
        name: 'h',
        unit: 's',
        histogram: {
          ...cumulative,
          dataPoints: [{ count: 2, sum: 6, bucketCounts: [0, 2], explicitBounds: [1] }],
        },
      },
    ])
  })
})

describe('a backend that takes no JSON', () => {
  const types: (string | undefined)[] = []
  const received: Buffer[] = []
  const server = createServer(async (incoming, response) => {
    const { 'content-type': type } = incoming.headers
    types.push(type)
    const body = await buffer(incoming)
    if (type === 'application/x-protobuf') received.push(body)
    response.writeHead(type === 'application/x-protobuf' ? 200 : 415).end()
  })
  beforeEach(async () => {
    types.length = 0
    received.length = 0
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  const never = new AbortController().signal
  const span: Span = {
    trace,
    id: 'b7ad6b7169203331',
    parent: undefined,
    name: 'chat',
    kind: 'client',
    start: 1,
    end: 2,
    attributes: {},
  }
  function sent(environment: NodeJS.ProcessEnv): ReturnType<typeof sender> {
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return sender(backendOf(endpoint, environment), { warn: () => {} })
  }

  it('gets the refused spans and all later ones as protobuf', async () => {
    const send = sent({})
    expect([await send([span], never), await send([span], never)]).toEqual([1, 1])
    expect(types).toEqual(['application/json', 'application/x-protobuf', 'application/x-protobuf'])
    expect(received[0]?.includes(Buffer.from(span.id, 'hex'))).toBe(true)
  })

  it('gets the form alone that the variable of the protocol names', async () => {
    await sent({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' })([span], never)
    expect(types).toEqual(['application/x-protobuf'])
    expect(await sent({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' })([span], never)).toBe(0)
    expect(received).toHaveLength(1)
  })

  it('is not reached by a protocol that Weir does not speak', () => {
    expect(() => sent({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; give http/protobuf or http/json',
    )
  })
})
