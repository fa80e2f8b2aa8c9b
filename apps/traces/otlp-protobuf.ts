// OTLP/JSON as OTLP's binary form, for backends that take only that. A library would bring a compiler
// for schemas, and Weir only writes five kinds of values (opentelemetry-proto 1.x).

type Scalar = 'text' | 'hex' | 'varint' | 'bool' | 'double' | 'fixed64'
/** The fields of a message, by their names in JSON, in the order of their numbers. */
type Fields = { readonly [name: string]: readonly [number: number, type: Scalar | Fields] }

const anyValue: { [name: string]: readonly [number, Scalar | Fields] } = {
  stringValue: [1, 'text'],
  boolValue: [2, 'bool'],
  intValue: [3, 'varint'],
  doubleValue: [4, 'double'],
}
anyValue.arrayValue = [5, { values: [1, anyValue] }]
const attribute: Fields = { key: [1, 'text'], value: [2, anyValue] }

const span: Fields = {
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  parentSpanId: [4, 'hex'],
  name: [5, 'text'],
  kind: [6, 'varint'],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, attribute],
  events: [11, { timeUnixNano: [1, 'fixed64'], name: [2, 'text'], attributes: [3, attribute] }],
  status: [15, { message: [2, 'text'], code: [3, 'varint'] }],
}

const times: Fields = { startTimeUnixNano: [2, 'fixed64'], timeUnixNano: [3, 'fixed64'] }
const sum: Fields = {
  dataPoints: [1, { ...times, asInt: [6, 'fixed64'], attributes: [7, attribute] }],
  aggregationTemporality: [2, 'varint'],
  isMonotonic: [3, 'bool'],
}
const histogram: Fields = {
  dataPoints: [
    1,
    {
      ...times,
      count: [4, 'fixed64'],
      sum: [5, 'double'],
      bucketCounts: [6, 'fixed64'],
      explicitBounds: [7, 'double'],
      attributes: [9, attribute],
    },
  ],
  aggregationTemporality: [2, 'varint'],
}
const metric: Fields = {
  name: [1, 'text'],
  unit: [3, 'text'],
  sum: [7, sum],
  histogram: [9, histogram],
}

const resource: Fields = { attributes: [1, attribute] }
const scope: Fields = { name: [1, 'text'], version: [2, 'text'] }

/** ExportTraceServiceRequest and ExportMetricsServiceRequest: a request has one of the fields. */
const requests: Fields = {
  resourceSpans: [
    1,
    {
      resource: [1, resource],
      scopeSpans: [2, { scope: [1, scope], spans: [2, span], schemaUrl: [3, 'text'] }],
    },
  ],
  resourceMetrics: [
    1,
    {
      resource: [1, resource],
      scopeMetrics: [2, { scope: [1, scope], metrics: [2, metric] }],
    },
  ],
}

/** `request`: of traces or of metrics, in OTLP/JSON. */
export function protobufOf(request: object): Buffer {
  return Buffer.concat(messageOf(request, requests))
}

function messageOf(message: object, fields: Fields): Buffer[] {
  const values = new Map<string, unknown>(Object.entries(message))
  return Object.entries(fields).flatMap(([name, [number, type]]) => {
    const value = values.get(name)
    if (value === undefined) return []
    return [value].flat().flatMap((one) => fieldOf(number, type, one))
  })
}

/** Wire types: 0 a varint, 1 eight bytes, 2 bytes behind their length. */
function fieldOf(number: number, type: Scalar | Fields, value: unknown): Buffer[] {
  const tag = (wireType: number) => varint(BigInt((number << 3) | wireType))
  const bytes = (all: Buffer[]) => {
    const size = all.reduce((sum, { length }) => sum + length, 0)
    return [tag(2), varint(BigInt(size)), ...all]
  }
  if (typeof type === 'object') return bytes(messageOf(value as object, type))
  switch (type) {
    case 'text':
      return bytes([Buffer.from(String(value))])
    case 'hex':
      return bytes([Buffer.from(String(value), 'hex')])
    case 'bool':
      return [tag(0), varint(value === true ? 1n : 0n)]
    case 'varint':
      return [tag(0), varint(BigInt.asUintN(64, BigInt(value as string)))]
    case 'double': {
      const eight = Buffer.alloc(8)
      eight.writeDoubleLE(Number(value))
      return [tag(1), eight]
    }
    case 'fixed64': {
      const eight = Buffer.alloc(8)
      eight.writeBigUInt64LE(BigInt(value as string))
      return [tag(1), eight]
    }
  }
}

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}
