// What Weir takes from the inside of kafkajs (2.2.4, pinned): a connection to one broker (TLS,
// SASL, framing, request timeouts) and the encoding of the small requests: groups, offsets,
// configuration. All of its inner imports are in this file. Why not its front door: its consumer
// cannot read a partition without a group, hands partitions over only after all of them have
// stopped, decides by itself where to read on, and reads on only when its last batches are done;
// its producer resends without order; both retry and log on their own, several layers deep. What
// the bus does instead stands beside this file, one thing a file. Records are encoded and decoded
// in record-batch.ts.

import type { KafkaConfig } from 'kafkajs'
// @ts-expect-error kafkajs has no types for its inner files
import InnerBroker from 'kafkajs/src/broker/index.js'
// @ts-expect-error
import createConnectionPools from 'kafkajs/src/cluster/connectionPoolBuilder.js'
// @ts-expect-error
import assignerProtocol from 'kafkajs/src/consumer/assignerProtocol.js'
// @ts-expect-error
import loggers from 'kafkajs/src/loggers/index.js'
// @ts-expect-error
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js'
// @ts-expect-error
import createSocketFactory from 'kafkajs/src/network/socketFactory.js'
// @ts-expect-error
import protocolErrors from 'kafkajs/src/protocol/error.js'
// @ts-expect-error
import crc32cOf from 'kafkajs/src/protocol/recordBatch/crc32C/crc32C.js'

import type { KafkajsLog } from './kafkajs-log.ts'

// After each answer kafkajs sets a timer to look for requests that wait, also when none does, and
// for a time long past, of which Node warns. Mended for all of kafkajs, also its admin client.
const lookForPending = RequestQueue.prototype.scheduleCheckPendingRequests
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: { pending: unknown[] }) {
  if (this.pending.length > 0) lookForPending.call(this)
}

export type Node = { id: number; host: string; port: number }

/**
 * A request with a hand-made body; kafkajs puts the header before it. `decode` gets what comes
 * after the correlation id.
 */
export type RawRequest<Answer> = {
  apiKey: number
  apiVersion: number
  apiName: string
  body: Buffer
  decode(payload: Buffer): Answer
  timeoutMs?: number
}

export type PartitionOffset = { partition: number; offset: string; metadata?: string | null }

type OfPartitions<Partition> = { topic: string; partitions: Partition[] }[]

export type Member = { memberId: string; memberMetadata: Buffer }

/**
 * kafkajs's Broker, as far as it is used here. Every method rejects with one of its errors; see
 * failure.ts.
 */
export type DriverBroker = {
  versions: Record<number, { minVersion: number; maxVersion: number }>
  connect(): Promise<void>
  findGroupCoordinator(options: { groupId: string; coordinatorType: number }): Promise<{
    coordinator: { nodeId: number; host: string; port: number }
  }>
  joinGroup(options: {
    groupId: string
    sessionTimeout: number
    rebalanceTimeout: number
    memberId: string
    groupProtocols: { name: string; metadata: Buffer }[]
  }): Promise<{ generationId: number; leaderId: string; memberId: string; members: Member[] }>
  syncGroup(options: {
    groupId: string
    generationId: number
    memberId: string
    groupAssignment: { memberId: string; memberAssignment: Buffer }[]
  }): Promise<{ memberAssignment: Buffer }>
  heartbeat(options: {
    groupId: string
    groupGenerationId: number
    memberId: string
  }): Promise<unknown>
  leaveGroup(options: { groupId: string; memberId: string }): Promise<unknown>
  offsetCommit(options: {
    groupId: string
    groupGenerationId: number
    memberId: string
    topics: OfPartitions<PartitionOffset>
  }): Promise<unknown>
  offsetFetch(options: { groupId: string; topics: OfPartitions<{ partition: number }> }): Promise<{
    responses: OfPartitions<PartitionOffset>
  }>
  listOffsets(options: {
    replicaId: number
    isolationLevel: number
    topics: OfPartitions<{ partition: number; timestamp: number }>
  }): Promise<{ responses: OfPartitions<{ partition: number; offset: string }> }>
  describeConfigs(options: {
    resources: { type: number; name: string; configNames: string[] }[]
  }): Promise<{
    resources: { configEntries: { configName: string; configValue: string }[] }[]
  }>
  connectionPool: ConnectionPool
}

type Connection = {
  socket: { destroy(): void } | undefined
  requestQueue: { rejectAll(error: Error): void }
  disconnect(): Promise<unknown>
}

type ConnectionPool = {
  pool: Connection[]
  send(request: unknown): Promise<unknown>
}

/**
 * A broker over one socket, not yet connected. Only one request may be under way on it: kafkajs's
 * renewal of a SASL session expects that.
 */
export async function createBroker(
  client: KafkaConfig,
  { host, port }: Pick<Node, 'host' | 'port'>,
  log: KafkajsLog,
): Promise<DriverBroker> {
  const logger = loggers.createLogger({ level: loggers.LEVELS.INFO, logCreator: log })
  const pools = createConnectionPools({
    ...client,
    socketFactory: client.socketFactory ?? createSocketFactory(),
    connectionTimeout: client.connectionTimeout ?? connectionTimeoutMs,
    requestTimeout: client.requestTimeout ?? requestTimeoutMs,
    enforceRequestTimeout: true,
    logger,
  })
  const connectionPool: ConnectionPool = await pools.build({ host, port })
  // kafkajs opens a second socket for fetches, so that they do not hold up the rest. Here every
  // purpose has a broker object of its own.
  connectionPool.pool = connectionPool.pool.slice(0, 1)
  connectionPool.pool.push(connectionPool.pool[0] as Connection)
  const { authenticationTimeout } = client
  return new InnerBroker({
    connectionPool,
    logger,
    allowAutoTopicCreation: false,
    authenticationTimeout,
  }) as DriverBroker
}

export const connectionTimeoutMs = 5_000
export const requestTimeoutMs = 30_000

export function sendRaw<Answer>(
  broker: DriverBroker,
  request: RawRequest<Answer>,
): Promise<Answer> {
  const { apiKey, apiVersion, apiName, body, decode, timeoutMs } = request
  const encoded = { buf: body, buffer: body, size: () => body.length }
  return broker.connectionPool.send({
    request: { apiKey, apiVersion, apiName, encode: async () => encoded },
    response: {
      decode: async (payload: Buffer) => decode(payload),
      parse: (answer: Answer) => answer,
    },
    requestTimeout: timeoutMs ?? null,
    logResponseError: false,
  }) as Promise<Answer>
}

/** Ends the connection at once; whoever waits for an answer on it is told. */
export function closeBroker(broker: DriverBroker, reason: Error): void {
  const connection = broker.connectionPool.pool[0]
  if (connection === undefined) return
  connection.requestQueue.rejectAll(reason)
  connection.disconnect().catch(() => {})
  connection.socket?.destroy()
}

/** The error of a code in a response, as kafkajs makes it. */
export function protocolError(code: number): Error {
  return protocolErrors.createErrorFromCode(code) as Error
}

export function crc32c(bytes: Buffer): number {
  return crc32cOf(bytes) as number
}

/**
 * What a member of a consumer group says of itself, and what its leader gives it, in the form that
 * all Kafka tools read.
 */
export const memberMetadata: {
  encode(metadata: { version: number; topics: string[]; userData: Buffer }): Buffer
  decode(bytes: Buffer): { topics: string[]; userData: Buffer | null }
} = assignerProtocol.MemberMetadata

export const memberAssignment: {
  encode(assignment: {
    version: number
    assignment: Record<string, number[]>
    userData: Buffer
  }): Buffer
  decode(bytes: Buffer): { assignment: Record<string, number[]> } | null
} = assignerProtocol.MemberAssignment
