// Every error of Weir: a code from one list, whether a repeat can help, and the cause.
// A rejected tool call is not an error: it is data that the model will read (services/validator).

export const errorCodes = [
  // codec: bytes that are no message, or a message that its schema refuses
  'codec.bad-frame',
  'codec.unknown-schema',
  'codec.bad-body',
  'codec.bad-message',
  // settings, agent files and messages: what a person wrote
  'settings.invalid',
  'agent.invalid',
  'agent.unknown',
  'message.invalid',
  // bus: the log itself
  'bus.unwritable',
  'bus.full',
  'bus.locked',
  'bus.not-a-database',
  'bus.newer-version',
  'bus.topic-missing',
  'bus.topic-differs',
  'bus.record-too-large',
  'bus.commit-outside-log',
  'bus.closed',
  // bus: what only a broker can answer
  'bus.unreachable',
  'bus.unauthorized',
  'bus.refused',
  'bus.group-foreign',
  'bus.compression-unreadable',
  'bus.record-unreadable',
  // bundles: a file that is none, one that was damaged or made by a newer Weir
  'bundle.invalid',
  'bundle.damaged',
  'bundle.newer-version',
  'bundle.unknown-schema',
  'bundle.turn-cut',
  // a file that a command makes: one that is there already, a place where nothing can be written
  'output.exists',
  'output.unwritable',
  // runtime
  'runtime.assertion',
  // the tables that a gateway reads before it asks a model
  'history.missing',
  'policies.unreadable',
  // guards: a file or a registration that cannot be used, a name that is another's, a guard that is
  // not there
  'guard.invalid',
  'guard.taken',
  'guard.unknown',
  // approvals: an id under which no call waits, or more than one
  'approval.unknown',
  'approval.ambiguous',
  // policies: an agent for which nothing is set
  'policy.unknown',
  // the provider of a model
  'provider.refused',
  'provider.unavailable',
  'provider.stream',
  'provider.stalled',
  // a recorded stream that cannot be read as one, and one that makes no response
  'recording.invalid',
  'recording.unusable',
  // a transcript of another runtime that cannot be read as one
  'transcript.invalid',
  // the command line
  'usage',
  'conversation.unknown',
  'replay.nothing',
  'scenario.invalid',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/**
 * An error whose message says what happened, with which value, and what to do. `retryable`: the
 * same call may succeed later.
 */
export class WeirError extends Error {
  readonly code: ErrorCode
  readonly retryable: boolean

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; retryable?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'WeirError'
    this.code = code
    this.retryable = options.retryable ?? false
  }
}
