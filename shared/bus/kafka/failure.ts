// Classifies the errors of brokers and connections: whether a retry helps, and the message with the
// fix for the user.

import { type ErrorCode, WeirError } from '../../lib/errors.ts'

/**
 * `refresh`: the metadata is old or the connection is lost; refresh the metadata, then retry.
 * `retry`: retry after a wait. `fail`: no retry can help.
 */
export type Recovery = 'refresh' | 'retry' | 'fail'

const refreshable = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'BROKER_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'OFFSET_NOT_AVAILABLE',
  'ILLEGAL_SASL_STATE', // of this connection; a new one logs in again
])

const retriable = new Set([
  'UNKNOWN',
  'CORRUPT_MESSAGE',
  'REQUEST_TIMED_OUT',
  'NETWORK_EXCEPTION',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
  'NOT_CONTROLLER',
  'UNSTABLE_OFFSET_COMMIT',
  'KAFKAJS_UNKNOWN_ERROR_CODE', // newer than kafkajs, mostly quotas
])

type DriverError = {
  name?: unknown
  type?: unknown
  code?: unknown
  message?: unknown
  retriable?: unknown
  cause?: unknown
}

/**
 * The protocol's name of the error, such as `NOT_LEADER_FOR_PARTITION`. Undefined for other errors.
 */
export function protocolTypeOf(error: unknown): string | undefined {
  const { type } = (error ?? {}) as DriverError
  return typeof type === 'string' ? type : undefined
}

export function recoveryOf(error: unknown): Recovery {
  if (error instanceof WeirError) return error.retryable ? 'retry' : 'fail'
  const type = protocolTypeOf(error)
  if (type !== undefined && refreshable.has(type)) return 'refresh'
  if (type !== undefined) return retriable.has(type) ? 'retry' : 'fail'
  return isLogin(error) || isCertificate(error) || isVersion(error) || !isDriverError(error)
    ? 'fail'
    : 'refresh'
}

/** `right`: the operation and resource that the action needs, such as `Write on topic weir.history`. */
export type Action = { text: string; right: string }

/** A topic that is created again has no records, and its writers' ids begin again below their marks. */
export const deletedTopicAdvice =
  'Do not create a topic of an existing log again: delete everything (weir reset --all), or begin anew under another prefix (--topic-prefix)'

export function topicRecreated(topic: string): WeirError {
  return new WeirError(
    'bus.topic-recreated',
    `${topic} was deleted and created again, so its records and the marks of its writers are gone: delete everything (weir reset --all), or begin anew under another prefix (--topic-prefix)`,
  )
}

/** Reading records of a partition. */
export function readOf({ topic, partition }: { topic: string; partition: number }): Action {
  return { text: `read ${topic}/${partition}`, right: `Read on topic ${topic}` }
}

/** `action`: such as "write to weir.history/3". A WeirError is returned unchanged. */
export function asBusError(error: unknown, tried: string | Action): WeirError {
  const { text: action, right } =
    typeof tried === 'string' ? { text: tried, right: undefined } : tried
  if (error instanceof WeirError) return error
  const detail = error instanceof Error ? error.message : String(error)
  const type = protocolTypeOf(error)
  const options = { cause: error, retryable: recoveryOf(error) !== 'fail' }
  if (isLogin(error))
    return new WeirError(
      'bus.unauthorized',
      `the broker rejected the login (to ${action}): ${detail}. Check sasl.* and ssl.* in the client properties`,
      options,
    )
  if (isCertificate(error))
    return new WeirError(
      'bus.unauthorized',
      `no trusted connection (to ${action}): ${detail}. Check ssl.* in the client properties`,
      options,
    )
  if (type?.endsWith('AUTHORIZATION_FAILED'))
    return new WeirError(
      'bus.unauthorized',
      `this user may not ${action} (${type}). Grant the permission${right === undefined ? '' : ` ${right}`} (weir topics acls), or use another user`,
      options,
    )
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION')
    return new WeirError(
      'bus.topic-missing',
      `there is no topic or partition to ${action}: create the topics of a new log with \`weir topics create\`. ${deletedTopicAdvice}`,
      options,
    )
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE')
    return new WeirError(
      'bus.record-too-large',
      `a record is too large for the broker (to ${action}): raise max.message.bytes of the topic; \`weir topics check\` prints the value`,
      options,
    )
  if (isVersion(error))
    return new WeirError(
      'bus.refused',
      `the broker is too old to ${action} (${detail}): Weir needs Apache Kafka 2.3 or later, or a broker with its protocol`,
      options,
    )
  if (type !== undefined)
    return new WeirError(
      'bus.refused',
      `could not ${action}: the broker returned ${type}, ${detail}`,
      options,
    )
  if (isDriverError(error))
    return new WeirError(
      'bus.unreachable',
      `no broker could be reached to ${action}: ${detail}`,
      options,
    )
  return new WeirError('bus.refused', `could not ${action}: ${detail}`, options)
}

/** If a connection is lost while requests wait for it, kafkajs throws an error without a name. */
function isDriverError(error: unknown): boolean {
  const { name, message } = (error ?? {}) as DriverError
  return String(name).startsWith('KafkaJS') || message === 'Broker not connected'
}

/**
 * A connection that ends during a login is a failed login for kafkajs. A broker that shuts down
 * must not count as one.
 */
function isLogin(error: unknown): boolean {
  const { name, message } = (error ?? {}) as DriverError
  const type = protocolTypeOf(error)
  if (type === 'SASL_AUTHENTICATION_FAILED' || type === 'UNSUPPORTED_SASL_MECHANISM') return true
  return (
    name === 'KafkaJSSASLAuthenticationError' &&
    !/clos|timed out|not connected|econn|epipe/i.test(String(message))
  )
}

/**
 * The names of Node and OpenSSL: CERT_HAS_EXPIRED, DEPTH_ZERO_SELF_SIGNED_CERT,
 * ERR_TLS_CERT_ALTNAME_INVALID, ERR_SSL_WRONG_VERSION_NUMBER and so on.
 */
function isCertificate(error: unknown): boolean {
  const { code } = (error ?? {}) as DriverError
  return typeof code === 'string' && /CERT|ERR_TLS_|ERR_SSL_|UNABLE_TO_(GET|VERIFY)/.test(code)
}

function isVersion(error: unknown): boolean {
  const { name } = (error ?? {}) as DriverError
  return (
    name === 'KafkaJSServerDoesNotSupportApiKey' ||
    name === 'KafkaJSNotImplemented' ||
    protocolTypeOf(error) === 'UNSUPPORTED_VERSION'
  )
}

/**
 * The damage is in one partition: its commit, or its records. Other partitions can be read on.
 */
export function isPartitionDamage(error: unknown): error is WeirError {
  return error instanceof WeirError && partitionDamage.has(error.code)
}

const partitionDamage = new Set<ErrorCode>([
  'bus.commit-outside-log',
  'bus.record-unreadable',
  'bus.compression-unreadable',
])

/** Throws `bus.closed` once the bus is closed. */
export function assertOpen(closed: AbortSignal): void {
  if (closed.aborted) throw closedError()
}

export function closedError(): WeirError {
  return new WeirError('bus.closed', 'the bus is closed: open it again')
}
