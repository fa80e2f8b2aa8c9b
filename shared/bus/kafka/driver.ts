// Weir's use of the inside of kafkajs (2.2.4, pinned): a connection to one broker (TLS, SASL,
// framing, request timeouts), and the encoding of the small requests: groups, offsets,
// configuration. All imports of its inner files are here.
// Its public API does not fit. Its consumer cannot read a partition without a group, and reassigns
// partitions only after all of them have stopped. It decides itself where to continue, and fetches
// more only when its last batches are done. Its producer resends without order. Both retry and log
// in several layers. The files next to this one do these jobs instead. record-batch.ts encodes and
// decodes records.

import type { GroupDescription, KafkaConfig } from 'kafkajs'
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
import { requests } from 'kafkajs/src/protocol/requests/index.js'

import type { KafkajsLog } from './properties/kafkajs-log.ts'

// After each response kafkajs sets a timer to check for pending requests, even if there are none,
// and for a time in the past, of which Node warns. This patch also holds for its admin client.
const checkPending = RequestQueue.prototype.scheduleCheckPendingRequests
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: { pending: unknown[] }) {
  if (this.pending.length > 0) checkPending.call(this)
}

export type Node = { id: number; host: string; port: number }

/**
 * A request with a body encoded by Weir; kafkajs adds the header. `decode` gets the bytes after
 * the correlation id.
 */
export type RawRequest<Answer> = {
  apiKey: number
  apiVersion: number
  apiName: string
  body: Buffer
  decode(payload: Buffer): Answer
}

export type PartitionOffset = { partition: number; offset: string; metadata?: string | null }

type OfPartitions<Partition> = { topic: string; partitions: Partition[] }[]

export type Member = { memberId: string; memberMetadata: Buffer }

/**
 * The part of kafkajs's Broker that Weir uses. Every method rejects with kafkajs's errors
 * (failure.ts).
 */
export type DriverBroker = {
  versions: Record<number, { minVersion: number; maxVersion: number }>
  connect(): Promise<void>
  findGroupCoordinator(options: { groupId: string; coordinatorType: number }): Promise<{
    coordinator: { nodeId: number; host: string; port: number }
  }>
  describeGroups(options: { groupIds: string[] }): Promise<{ groups: GroupDescription[] }>
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
 * A broker on one socket, not yet connected. Send one request at a time: kafkajs's renewal of a
 * SASL session expects that.
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
    enforceRequestTimeout: false, // link.ts does it, without a timer that fires ten times a second
    logger,
  })
  const connectionPool: ConnectionPool = await pools.build({ host, port })
  // kafkajs opens a second socket for fetches, so they delay nothing else. Weir has a broker object
  // per purpose instead.
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
  const { apiKey, apiVersion, apiName, body, decode } = request
  const encoded = { buf: body, buffer: body, size: () => body.length }
  return broker.connectionPool.send({
    request: { apiKey, apiVersion, apiName, encode: async () => encoded },
    response: {
      decode: async (payload: Buffer) => decode(payload),
      parse: (answer: Answer) => answer,
    },
    logResponseError: false,
  }) as Promise<Answer>
}

/** The requests of a group member that can carry the name of a static member. */
export type MemberBroker = Pick<DriverBroker, 'joinGroup' | 'syncGroup' | 'heartbeat'>

/**
 * The broker for a static member (group.instance.id). kafkajs encodes the name, in these versions
 * (Kafka 2.3 and later), but its Broker does not pass it on. Undefined: a usual member.
 */
export function memberBroker(
  broker: DriverBroker,
  groupInstanceId: string | undefined,
): MemberBroker {
  if (groupInstanceId === undefined || !hasStaticMembers(broker)) return broker
  const send = (name: string, version: number, options: object) =>
    broker.connectionPool.send(
      requests[name].protocol({ version })({ ...options, groupInstanceId }),
    ) as Promise<never>
  return {
    joinGroup: (options) => send('JoinGroup', 5, { ...options, protocolType: 'consumer' }),
    syncGroup: (options) => send('SyncGroup', 3, options),
    heartbeat: (options) => send('Heartbeat', 3, options),
  }
}

/** Of the requests to join, sync and send a heartbeat. */
const staticMemberVersions: [apiKey: number, least: number][] = [
  [11, 5],
  [14, 3],
  [12, 3],
]

/** Some brokers with Kafka's protocol have usual members only. */
function hasStaticMembers({ versions }: DriverBroker): boolean {
  return staticMemberVersions.every(([key, least]) => (versions[key]?.maxVersion ?? 0) >= least)
}

/** Closes the connection at once. Pending requests reject with `reason`. */
export function closeBroker(broker: DriverBroker, reason: Error): void {
  const connection = broker.connectionPool.pool[0]
  if (connection === undefined) return
  connection.requestQueue.rejectAll(reason)
  connection.disconnect().catch(() => {})
  connection.socket?.destroy()
}

/** The codes in responses that Weir tells apart. */
export const errorCodes = {
  unknownServerError: -1,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  offsetNotAvailable: 78,
}

/** The error for a code in a response, as kafkajs creates it. */
export function protocolError(code: number): Error {
  return protocolErrors.createErrorFromCode(code) as Error
}

/** The metadata of a group member and its assignment, in the format of all Kafka tools. */
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
