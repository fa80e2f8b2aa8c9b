// The brokers, topics and leaders of a cluster. Weir encodes this request itself for two reasons.
// Topic ids, which reveal a topic that was created again, need newer versions than kafkajs has. And
// kafkajs returns nothing if one of the topics is missing.

import { type DriverBroker, type Node, type RawRequest, sendRaw } from '../driver.ts'
import { uvarintSize, WireReader, WireWriter } from './wire.ts'

export type FoundTopic = {
  errorCode: number
  topic: string
  /** Undefined if the brokers have no ids. */
  id: string | undefined
  /** `leader`: the id of a node, or -1 without a leader. */
  partitions: { errorCode: number; partition: number; leader: number }[]
}

export type ClusterPicture = { nodes: Node[]; topics: FoundTopic[] }

const apiKey = 3
const apiName = 'Metadata'
/** With ids: Apache Kafka 3.0 and later. */
const versionWithIds = 12
/** Apache Kafka 2.1 and later. */
const versionWithout = 7

export function requestMetadata(broker: DriverBroker, topics: string[]): Promise<ClusterPicture> {
  const hasIds = (broker.versions[apiKey]?.maxVersion ?? 0) >= versionWithIds
  return sendRaw(broker, hasIds ? requestWithIds(topics) : requestWithout(topics))
}

function requestWithIds(topics: string[]): RawRequest<ClusterPicture> {
  let size = 1 + uvarintSize(topics.length + 1) + 3
  for (const topic of topics)
    size += 16 + uvarintSize(Buffer.byteLength(topic) + 1) + Buffer.byteLength(topic) + 1
  const writer = new WireWriter(size)
  writer.uvarint(0) // ends the header of a flexible version; kafkajs writes the part before
  writer.uvarint(topics.length + 1)
  for (const topic of topics) writer.int64(0).int64(0).compactString(topic).uvarint(0)
  writer.int8(0).int8(0).uvarint(0)
  return {
    apiKey,
    apiVersion: versionWithIds,
    apiName,
    body: writer.written(),
    decode: (payload) => decode(payload, true),
  }
}

function requestWithout(topics: string[]): RawRequest<ClusterPicture> {
  let size = 4 + 1
  for (const topic of topics) size += 2 + Buffer.byteLength(topic)
  const writer = new WireWriter(size)
  writer.int32(topics.length)
  for (const topic of topics) writer.string(topic)
  writer.int8(0)
  return {
    apiKey,
    apiVersion: versionWithout,
    apiName,
    body: writer.written(),
    decode: (payload) => decode(payload, false),
  }
}

/** `hasIds`: a flexible version, with compact texts and lists, and with tags. */
function decode(payload: Buffer, hasIds: boolean): ClusterPicture {
  const reader = new WireReader(payload)
  const text = () => (hasIds ? reader.compactString() : reader.string())
  const list = <T>(read: () => T) => (hasIds ? reader.compactArray(read) : reader.array(read))
  const skipTags = () => void (hasIds && reader.skipTags())
  skipTags() // of the header
  reader.int32()
  const nodes = list((): Node => {
    const node = { id: reader.int32(), host: text(), port: reader.int32() }
    text()
    skipTags()
    return node
  })
  text()
  reader.int32()
  const topics = list((): FoundTopic => {
    const errorCode = reader.int16()
    const topic = text()
    const id = hasIds ? reader.bytesOf(16).toString('hex') : undefined
    reader.int8()
    const partitions = list(() => {
      const partition = {
        errorCode: reader.int16(),
        partition: reader.int32(),
        leader: reader.int32(),
      }
      reader.int32()
      for (let lists = 0; lists < 3; lists += 1) list(() => reader.int32()) // replicas, in sync, offline
      skipTags()
      return partition
    })
    if (hasIds) reader.int32()
    skipTags()
    return { errorCode, topic, id, partitions }
  })
  return { nodes, topics }
}
