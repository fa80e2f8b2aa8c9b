// OTLP/JSON as OTLP's binary form, against the bytes of opentelemetry-proto 1.x for Python, and at a
// backend that takes no JSON.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { protobufOf } from '../../../apps/traces/otlp-protobuf.ts'
import { backendOf, sender } from '../../../apps/traces/send-spans.ts'
import type { Span } from '../../../apps/traces/span.ts'

const text = (stringValue: string) => ({ stringValue })
const trace = '0af7651916cd43dd8448eb211c80319c'

/** A span with a value of each kind, and the shortest one. */
const request = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: text('weir ünï') }] },
      scopeSpans: [
        {
          scope: { name: 'weir', version: '0.2.0' },
          spans: [
            {
              traceId: trace,
              spanId: 'b7ad6b7169203331',
              parentSpanId: '00f067aa0ba902b7',
              name: 'chat m',
              kind: 3,
              startTimeUnixNano: '1700000000123000000',
              endTimeUnixNano: '1700000001000000000',
              attributes: [
                { key: 'a', value: { intValue: '300' } },
                { key: 'n', value: { intValue: '-1' } },
                { key: 'd', value: { doubleValue: 0.25 } },
                { key: 'b', value: { boolValue: true } },
                { key: 'l', value: { arrayValue: { values: [text('stop'), text('')] } } },
              ],
              events: [
                {
                  timeUnixNano: '1700000000500000000',
                  name: 'weir.call_rejected',
                  attributes: [{ key: 'gen_ai.tool.name', value: text('exec') }],
                },
              ],
              status: { code: 2, message: 'no' },
            },
            {
              traceId: trace,
              spanId: 'b7ad6b7169203332',
              name: 'r',
              kind: 1,
              startTimeUnixNano: '1',
              endTimeUnixNano: '2',
              attributes: [],
              status: {},
            },
          ],
          schemaUrl: 'https://opentelemetry.io/schemas/gen-ai/0.1.0',
        },
      ],
    },
  ],
}

const bytes = Buffer.from(
  [
    '0aea020a1e0a1c0a0c736572766963652e6e616d65120c0a0a7765697220c3bc6ec3af12c7020a0d0a047765',
    '69721205302e322e3012cf010a100af7651916cd43dd8448eb211c80319c1208b7ad6b7169203331220800f0',
    '67aa0ba902b72a0663686174206d300339c0d47e3dfe9c97174100cac471fe9c97174a080a0161120318ac02',
    '4a100a016e120b18ffffffffffffffffff014a0e0a0164120921000000000000d03f4a070a0162120210014a',
    '130a016c120e2a0c0a060a0473746f700a020a005a39090065f753fe9c97171212776569722e63616c6c5f72',
    '656a65637465641a1a0a1067656e5f61692e746f6f6c2e6e616d6512060a04657865637a0612026e6f180212',
    '350a100af7651916cd43dd8448eb211c80319c1208b7ad6b71692033322a0172300139010000000000000041',
    '02000000000000007a001a2d68747470733a2f2f6f70656e74656c656d657472792e696f2f736368656d6173',
    '2f67656e2d61692f302e312e30',
  ].join(''),
  'hex',
)

describe('the binary form of OTLP', () => {
  it('has the same bytes as those of the library for Python', () => {
    expect(protobufOf(request)).toEqual(bytes)
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
