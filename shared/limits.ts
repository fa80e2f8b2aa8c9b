// Every bound of Weir that no setting may lift, with its unit (R7). What people turn stands in shared/settings.ts and in agent files; these are
// the hard ceilings over them, and the sizes of queues and buffers that nobody needs to turn.

const KiB = 1024
const MiB = 1024 * KiB
const second = 1000
const minute = 60 * second

export const limits = {
  /** Hard ceilings of a turn, whatever a message says (design: budgets). */
  turnRoundsMax: 1_000,
  turnCallsMax: 10_000,
  turnWallMsMax: 24 * 60 * minute,
  /** Messages that may wait while a turn is open, and their bytes together. */
  queueMessagesMax: 16,
  queueBytesMax: 1 * MiB,
  /** Message ids that a conversation remembers to know a client's repeat. */
  recentMessageIdsMax: 64,
  /** How long a conversation remembers them after its last turn. */
  conversationIdleMs: 10 * minute,
  /** Bytes of a user's message. */
  userMessageBytesMax: 1 * MiB,
  /** Bytes of a conversation's id. */
  conversationIdBytesMax: 256,
  /** Calls of one response; more make the response unusable. */
  responseCallsMax: 256,
  /** Bytes of one call's argument text. */
  argumentBytesMax: 1 * MiB,
  /** Nesting of one call's arguments. */
  argumentDepthMax: 100,
  /** Bytes of parts that are kept for one round over all its attempts; more cut the attempt that brought them. */
  roundPartsBytesMax: 6 * MiB,
  /** Attempts of one round whatever an agent says. */
  attemptsMax: 10,
  /** The longest wait for a provider that asked to come back later. */
  retryAfterMsMax: 2 * minute,
  /** How long a gateway waits for the history entry that a request names; no entry, no attempt (R6). */
  historyWaitMs: 30 * second,
  /** How long a part of a stream may be held back so that several go in one record. */
  partHoldMs: 20,
  partEventsMax: 256,
  /** Bytes of one call's result; the rest is cut with a note. */
  resultBytesMax: 256 * KiB,
  /** Bytes of all results of a round together. */
  roundResultsBytesMax: 4 * MiB,
  /** Bytes of a short reason. */
  reasonBytesMax: 512,
  /** Longest time a tool may declare. */
  toolTimeoutMsMax: 60 * minute,
  /** Tools that one executor process runs at once. */
  runningToolsMax: 16,
  /** How far apart repeated ticks of one unit are, until it has moved. */
  tickRepeatMs: 1 * second,
  /** Bytes of one record's value; the bus may have a lower bound. */
  recordBytesMax: 8 * MiB,
  /** Bytes of a refused record that its dead letter keeps; the whole of it stays where it was read. */
  deadLetterBytesMax: 1 * MiB,
  /** Records that are read at once to fold a unit again. */
  readBackRecordsMax: 512,
  /** How long a shutdown waits for running tools and streams. */
  shutdownGraceMs: 10 * second,
} as const
