// Every error of Weir: a code from one list, whether a retry can help, and the cause.
// A denied tool call is not an error. It is data that the model reads (services/validator).

export const errorCodes = [
  // codec: bytes that are not a message, or a message that does not match its schema
  'codec.bad-frame',
  'codec.unknown-schema',
  'codec.newer-schema',
  'codec.bad-body',
  'codec.bad-message',
  'codec.encrypted',
  // keys of tenants: a stage does not have one, or an operator deleted them
  'encryption.key-missing',
  'encryption.deleted',
  // a record whose bytes are right, and which its writer cannot have written
  'record.forged-id',
  'record.unsigned',
  // settings, agent files and messages: text that a person wrote
  'settings.invalid',
  'agent.invalid',
  'agent.unknown',
  'agent.differs',
  'message.invalid',
  // the output of a turn: there is none, or the schema's own check refuses it
  'output.missing',
  'output.invalid',
  // a server of tools that gives no list of them
  'mcp.unreachable',
  // bus: the log itself
  'bus.unwritable',
  'bus.full',
  'bus.locked',
  'bus.imported',
  'bus.foreign-schema',
  'bus.not-a-database',
  'bus.newer-version',
  'bus.topic-missing',
  'bus.topic-differs',
  'bus.topic-recreated',
  'bus.record-too-large',
  'bus.commit-outside-log',
  'bus.closed',
  // a data folder that was only found, and that another user or machine made
  'folder.foreign',
  // bus: errors that only a broker gives
  'bus.unreachable',
  'bus.unauthorized',
  'bus.refused',
  'bus.group-foreign',
  // a version that cannot run next to the ones that run, or a pin that a live process cannot read
  'fleet.apart',
  'bus.compression-unreadable',
  'bus.record-unreadable',
  // bundles: not a bundle, a damaged one, or one from a newer Weir
  'bundle.invalid',
  'bundle.damaged',
  'bundle.newer-version',
  'bundle.unknown-schema',
  'bundle.turn-cut',
  // a file that a command makes: it exists already, or its folder cannot be written
  'output.exists',
  'output.unwritable',
  // traces: the backend refused spans for good, or was away for too long
  'traces.refused',
  'traces.unreachable',
  // runtime
  'runtime.assertion',
  // the tables that a gateway reads before it calls a model
  'history.missing',
  'policies.unreadable',
  // guards: an unusable file or registration, a name in use by another, an unknown guard
  'guard.invalid',
  'guard.taken',
  'guard.unknown',
  // approvals: no call waits under an id, or several do
  'approval.unknown',
  'approval.ambiguous',
  // calls of a client: no such call was offered, or it has its end already
  'call.unknown',
  'call.over',
  // a fork that no stage has written yet
  'fork.unconfirmed',
  // policies: an agent without one
  'policy.unknown',
  // stops: a scope that is stopped already, an unknown one, and a model request that is stopped
  'stop.taken',
  'stop.unknown',
  'stop.in-force',
  // budgets: a reached one, reservations that cannot be read, and an unknown one
  'budget.reached',
  'budget.unreadable',
  'budget.unknown',
  // a sandbox that this machine cannot make, or whose paths are unusable
  'sandbox.unavailable',
  'sandbox.refused',
  // the provider of a model
  'provider.refused',
  'provider.unavailable',
  'provider.stream',
  'provider.stalled',
  // a recorded stream that cannot be read, or that makes no response
  'recording.invalid',
  'recording.unusable',
  // a guest's history that cannot be read, a guest whose turn was ended, and too many guests
  'guest.format',
  'guest.over',
  'guests.full',
  // a server for hooks of a host that does not start
  'hooks.not-started',
  // a transcript of another runtime that cannot be read
  'transcript.invalid',
  // the command line
  'usage',
  'conversation.unknown',
  'conversation.open',
  'replay.nothing',
  'scenario.invalid',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/**
 * The message gives the event, the value and the fix. `retryable`: the same call may succeed later.
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

/** The user gave an unusable flag, argument, option or file. */
export function usageError(message: string, options?: { cause?: unknown }): WeirError {
  return new WeirError('usage', message, options)
}

/** A message, or a part of one, that no agent can get. */
export function messageError(message: string, options?: { cause?: unknown }): WeirError {
  return new WeirError('message.invalid', message, options)
}
