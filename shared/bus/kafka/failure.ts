// What a broker, or the way to it, says when it cannot: whether asking again can help, and in
// Weir's words what is wrong and what to do.

import { WeirError } from '../../lib/errors.ts'

/**
 * `stale`: what is known of the cluster is old, or the connection is gone; look again, then repeat.
 * `passing`: repeat after a while. `lasting`: no repeat can help.
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
  'ILLEGAL_SASL_STATE', // of this connection; a new one begins anew
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
  'KAFKAJS_UNKNOWN_ERROR_CODE', // newer than kafkajs: quotas, mostly
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
 * The name of an error of Kafka's protocol, as `NOT_LEADER_FOR_PARTITION`; undefined: it is another
 * one.
 */
export function protocolTypeOf(error: unknown): string | undefined {
  const { type } = (error ?? {}) as DriverError
  return typeof type === 'string' ? type : undefined
}

export function recoveryOf(error: unknown): Recovery {
  if (error instanceof WeirError) return error.retryable ? 'retry' : 'fail'
  const type = protocolTypeOf(error)
  if (type !== undefined)
    return refreshable.has(type) ? 'refresh' : retriable.has(type) ? 'retry' : 'fail'
  return isLogin(error) || isCertificate(error) || isVersion(error) || !isDriverError(error)
    ? 'fail'
    : 'refresh'
}

/** `action`: what was tried, as "write to weir.history/3". A WeirError stays as it is. */
export function asBusError(error: unknown, action: string): WeirError {
  if (error instanceof WeirError) return error
  const said = error instanceof Error ? error.message : String(error)
  const type = protocolTypeOf(error)
  const options = { cause: error, retryable: recoveryOf(error) !== 'fail' }
  if (isLogin(error))
    return new WeirError(
      'bus.unauthorized',
      `the broker refuses the login (to ${action}): ${said}. Look at sasl.* and ssl.* of the client properties`,
      options,
    )
  if (isCertificate(error))
    return new WeirError(
      'bus.unauthorized',
      `no trusted connection (to ${action}): ${said}. Look at ssl.* of the client properties`,
      options,
    )
  if (type?.endsWith('AUTHORIZATION_FAILED'))
    return new WeirError(
      'bus.unauthorized',
      `this user may not ${action}: the broker says ${type}. Give it the right, or use another user`,
      options,
    )
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION')
    return new WeirError(
      'bus.topic-missing',
      `there is no topic or partition to ${action}: create the topics with \`weir topics create\``,
      options,
    )
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE')
    return new WeirError(
      'bus.record-too-large',
      `the broker refuses a record as too large (to ${action}): raise max.message.bytes of the topic; \`weir topics check\` says to what`,
      options,
    )
  if (isVersion(error))
    return new WeirError(
      'bus.refused',
      `the broker is too old to ${action} (${said}): Weir needs Apache Kafka 2.3 or later, or what speaks its protocol`,
      options,
    )
  if (type !== undefined)
    return new WeirError(
      'bus.refused',
      `could not ${action}: the broker says ${type}, ${said}`,
      options,
    )
  if (isDriverError(error))
    return new WeirError(
      'bus.unreachable',
      `no broker could be asked to ${action}: ${said}`,
      options,
    )
  return new WeirError('bus.refused', `could not ${action}: ${said}`, options)
}

/**
 * Of a connection that was lost while something waited for it kafkajs says so in an error of no
 * kind.
 */
function isDriverError(error: unknown): boolean {
  const { name, message } = (error ?? {}) as DriverError
  return String(name).startsWith('KafkaJS') || message === 'Broker not connected'
}

/**
 * Kafkajs calls it a failed login, too, when the connection ended during one: a broker that goes
 * down is no reason to give up.
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
 * Node's and OpenSSL's names: CERT_HAS_EXPIRED, DEPTH_ZERO_SELF_SIGNED_CERT,
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
