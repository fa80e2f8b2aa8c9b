// Every bound of Weir that no setting can raise, with its unit (R7): the hard ceilings over
// shared/settings/settings.ts and agent files, and the sizes of queues and buffers.

const KiB = 1024
const MiB = 1024 * KiB
const second = 1000
const minute = 60 * second

export const limits = {
  /** Hard ceilings of a turn. No message can raise them. */
  turnRoundsMax: 1_000,
  turnCallsMax: 10_000,
  turnWallMsMax: 24 * 60 * minute,
  /** Messages that may wait while a turn is open, and their bytes together. */
  queueMessagesMax: 16,
  queueBytesMax: 1 * MiB,
  /** A file of a program that is hashed as a whole for an approval. */
  programFileBytesMax: 512 * MiB,
  /** Message ids that a conversation remembers to detect a client's repeats. */
  recentMessageIdsMax: 64,
  /** How long a conversation remembers them after its last turn. */
  conversationIdleMs: 10 * minute,
  /** Bytes of an agent's name, and of the fallback, which every request carries. */
  agentNameBytesMax: 256,
  fallbackBytesMax: 64 * KiB,
  /** Bytes of the names of rules in shadow, which every round carries. */
  shadowedBytesMax: 4 * KiB,
  /** Bytes of a user's message. */
  userMessageBytesMax: 1 * MiB,
  /** Bytes of a conversation's id. */
  conversationIdBytesMax: 256,
  /** Bytes of a client's message id: a conversation carries the recent ids along. */
  messageIdBytesMax: 256,
  /** Calls of one response. More make the response unusable. */
  responseCallsMax: 256,
  /** Items, blocks or choices of one response. More make the response unusable. */
  responseItemsMax: 1_024,
  /** Texts in which a provider may send one call's name. */
  callNameTextsMax: 256,
  /** Bytes of one call's argument text. */
  argumentBytesMax: 1 * MiB,
  /** Bytes of a visible text that is searched for calls. */
  textCallsBytesMax: 2 * MiB,
  /** Nesting of one call's arguments. */
  argumentDepthMax: 100,
  /** Bytes and nesting of one tool's schema, and how many compiled ones a process keeps. */
  schemaBytesMax: 256 * KiB,
  schemaDepthMax: 128,
  compiledSchemasMax: 256,
  /**
   * References of a schema that are followed to judge one call's arguments. A list of 100,000 items
   * needs as many, a careless `anyOf` far more.
   */
  schemaStepsMax: 200_000,
  /**
   * UTF-16 units of a text that is matched against a pattern of a schema. Many patterns need the
   * square of that in steps.
   */
  patternTextMax: 16 * KiB,
  /**
   * Bytes of parts that are kept for one round over all its attempts. More cut the oldest attempt
   * (accumulator, ACC-4).
   */
  roundPartsBytesMax: 6 * MiB,
  /** Attempts of one round. No agent can raise it. */
  attemptsMax: 10,
  /** The longest wait that a provider can request before the next attempt. */
  retryAfterMsMax: 2 * minute,
  /**
   * Model responses that one gateway process reads at once, each with the history of its request.
   * Further attempts wait in order.
   */
  modelStreamsMax: 512,
  /**
   * The wait of a gateway for the history entry that a request names. No entry, no attempt (R6).
   */
  historyWaitMs: 30 * second,
  /**
   * Bytes of the texts of one request's history, twice the largest contexts of two million tokens.
   * Few models accept so much.
   */
  historyBytesMax: 16 * MiB,
  /**
   * Keys of the history that one step of its expiry checks, the time between two steps, and the
   * time between two passes over all keys.
   */
  historySweepKeysMax: 256,
  historySweepStepMs: 1 * second,
  historySweepEveryMs: 60 * minute,
  /**
   * Entries of one conversation that one write removes from the history. The next pass removes the
   * rest.
   */
  historyForgottenMax: 8_192,
  /** How long a part of a stream is held back to join others in one record. */
  partHoldMs: 20,
  partEventsMax: 256,
  /** Bytes of a part's events at which it is written without waiting for more. */
  partBytesMax: 64 * KiB,
  /** Bytes of a provider's body without one complete event of its stream. */
  streamEventBytesMax: 8 * MiB,
  /** Bytes of a provider's error that are read. A reason keeps the beginning of its message. */
  providerErrorBytesMax: 256 * KiB,
  /**
   * Bytes of history entries that a gateway keeps in memory for one partition. The next round then
   * need not read them again.
   */
  historyKeptBytesMax: 2 * MiB,
  /**
   * The time, in multiples of an agent's stallMs, during which a provider may send only comments,
   * pings and pieces of events.
   */
  wordlessStallsMax: 3,
  /** The time to connect to a provider. */
  modelConnectMs: 10 * second,
  /**
   * Bytes of signed or encrypted thinking of one Chat Completions response. If there are more, none
   * of it is sent back.
   */
  reasoningDetailsBytesMax: 1 * MiB,
  /**
   * How long, and for how many bytes, the rest of an unneeded response is read, to keep its
   * connection.
   */
  modelLeaveMs: 1 * second,
  modelLeaveBytesMax: 64 * KiB,
  /**
   * The highest count of tokens of one kind in a response. No provider's number can break a turn's
   * sum.
   */
  usageTokensMax: 1_000_000_000,
  /**
   * The wait before another attempt if the provider names none: the first, doubled by each failure,
   * and the longest.
   */
  retryBackoffMs: 1 * second,
  retryBackoffMsMax: 30 * second,
  /** Bytes of one call's result. The rest is cut, with a note. */
  resultBytesMax: 256 * KiB,
  /**
   * Bytes of a tool's output that are kept if its agent file sets none: some 8,000 tokens, which each
   * further request of the conversation repeats.
   */
  outputBytesDefault: 32 * KiB,
  /** Bytes of all results of a round together. */
  roundResultsBytesMax: 2 * MiB,
  /**
   * Streaks of one rule, and seen results, that the loop-detector keeps for a turn. The oldest go
   * first.
   */
  loopStreaksMax: 64,
  loopSeenMax: 512,
  /** Lines of results that are remembered, as hashes. */
  loopLinesMax: 2_048,
  /**
   * Characters of a result or an error in which volatile parts are masked. The rest is compared
   * unchanged.
   */
  loopMaskedCharsMax: 16_384,
  /** Strings of a call's arguments that are searched in its error, and the longest of them. */
  loopEchoesMax: 16,
  loopEchoCharsMax: 256,
  /** Bytes of arguments, of a result and of an error that an intervention quotes. */
  interventionQuoteBytesMax: 256,
  /** Calls that an intervention quotes, and calls that it names as evidence. */
  interventionCallsMax: 3,
  interventionEvidenceMax: 16,
  /**
   * How long the accumulator keeps an expired round, and the loop-detector an expired turn, whose
   * end was not reported.
   */
  turnLingerMs: 1 * minute,
  /** Bytes of a refusal text that an agent file sets for a tool. */
  refusalTextBytesMax: 8 * KiB,
  /** Bytes of a short reason. */
  reasonBytesMax: 512,
  /**
   * The highest startWithinMs and graceMs of an agent. The next turn may have to wait that long for
   * a cancelled one.
   */
  startWithinMsMax: 10 * minute,
  graceMsMax: 10 * minute,
  /**
   * How long a tool waits for the context of its turn's question, of which the reader of this
   * process may learn a moment later.
   */
  contextWaitMs: 1_000,
  /** Bytes of the text that a message adds to the agent's instructions. */
  questionSystemBytesMax: 64 * KiB,
  /** Further requests of a turn for a reply that does not fit its schema. */
  outputRetriesMax: 2,
  /** The longest timeout that a tool may declare. */
  toolTimeoutMsMax: 60 * minute,
  /**
   * Guards that may be in force at once, patterns of tool names in one guard, bytes of one pattern,
   * and characters of a version.
   */
  guardsMax: 32,
  guardPatternsMax: 64,
  guardPatternBytesMax: 256,
  guardVersionCharsMax: 64,
  /**
   * The longest wait of a round for a guard, and the longest extension of a turn by all guards
   * together.
   */
  guardDeadlineMsMax: 24 * 60 * minute,
  turnExtensionMsMax: 24 * 60 * minute,
  /**
   * A guard with this deadline or a longer one is slow. A round that waits for it extends its turn,
   * because a person's time must not count as the agent's.
   */
  slowGuardMs: 1 * minute,
  /**
   * Characters of a guard's code, bytes of its text for the model and of its evidence for people.
   */
  guardCodeCharsMax: 64,
  guardTextBytesMax: 4 * KiB,
  guardEvidenceBytesMax: 4 * KiB,
  /** Bytes of the interventions by all guards of a round together. */
  guardInterventionsBytesMax: 16 * KiB,
  /**
   * Bytes of a guard's answer to a round that is copied for the executor. A longer answer is not
   * copied at all.
   */
  guardVerdictBytesMax: 4 * MiB,
  /**
   * Early answers that the executor keeps for each guard until their rounds wait for them, and
   * their bytes together.
   */
  guardAnswersKeptMax: 1_024,
  guardAnswersKeptBytesMax: 8 * MiB,
  /**
   * How long the executor goes on reading a guard's answers when no call waits for them, and the
   * wait after a failed read.
   */
  guardFollowIdleMs: 5 * minute,
  guardFollowRetryMs: 1 * second,
  /**
   * The longest honest time between the stamping of a round's guards and its clearing: a model's
   * answer lies between them.
   */
  guardStampedMs: 10 * minute,
  /** How long a guard may judge one round. */
  guardJudgeMsMax: 1 * second,
  /**
   * A guard's memory: bytes for one conversation, as JSON, conversations of one partition, and the
   * time for which it keeps an idle one by default.
   */
  guardStateBytesMax: 64 * KiB,
  guardStatesMax: 100_000,
  guardStateKeptMs: 60 * minute,
  /** Bytes and number of the approval guard's rules. Each round carries them. */
  approvalRulesBytesMax: 16 * KiB,
  approvalRulesMax: 64,
  /**
   * An approval expires this much before the executor stops waiting, or after three quarters of a
   * short wait. Its own text should come first.
   */
  approvalAnswerMs: 10 * second,
  /** Bytes of the reason of a person's decision, and of the person's name. */
  approvalReasonBytesMax: 2 * KiB,
  approvalByBytesMax: 256,
  /**
   * Bytes of a request from another process to the one that writes the embedded bus: an answer of a
   * guard, in base64.
   */
  outsideRequestBytesMax: 8 * MiB,
  /** Such requests that are open at once: one for each partition (8) of each guard (32). */
  outsideRequestsMax: 256,
  /**
   * How long a guard in another process waits for a new process that writes the bus, and the time
   * between two tries to reach it.
   */
  ownerAwaitedMs: 1 * minute,
  ownerAskedAgainMs: 1 * second,
  /** How long such a guard, when it ends, waits for the acknowledgement of its last answer. */
  ownerLastWordMs: 2 * second,
  /** Bytes of an agent file, and of a file with its instructions. */
  agentFileBytesMax: 1 * MiB,
  /** Bytes of a file that ${file:…} in an agent file names. */
  secretFileBytesMax: 64 * KiB,
  /** Bytes of a recorded stream that `weir normalize` reads, and of a file with tools for it. */
  recordingBytesMax: 64 * MiB,
  /** Bytes of a settings file. */
  settingsFileBytesMax: 64 * KiB,
  /** Bytes of a file of certificates and keys. A system's list of authorities has 200 KiB. */
  certificateFileBytesMax: 1 * MiB,
  /** Agent files of one folder. */
  agentFilesMax: 1_000,
  /** Bytes of all tool declarations of one agent: each user's message carries them. */
  agentDeclarationsBytesMax: 4 * MiB,
  /** Tools that one executor process runs at once. One turn has at most half of them. */
  runningToolsMax: 16,
  /**
   * How long a tool-started record is held back. For a quick tool, one write then has its start and
   * its end.
   */
  toolStartedHoldMs: 10,
  /**
   * Bytes of a tool's HTTP response that are read, kept or not, before its connection is closed.
   */
  toolResponseBytesMax: 64 * MiB,
  /**
   * How long a connection to a tool's server is kept for the next call. Many servers close an idle
   * one after 5 seconds.
   */
  toolConnectionIdleMs: 4 * second,
  /**
   * How long the process of a module tool may go on loading its module after the end of the call
   * that started it.
   */
  moduleLoadMs: 30 * second,
  /** Processes of module tools that wait for the next call, and how long each one waits. */
  idleModulesMax: 8,
  moduleIdleMs: 5 * minute,
  /**
   * The JavaScript heap of such a process, and the memory above which it is replaced after a call.
   */
  moduleHeapMiBMax: 512,
  moduleMemoryBytesMax: 256 * MiB,
  /** The time until ticks that the bus rejected are written again. */
  tickRepeatMs: 1 * second,
  /**
   * The difference between this machine's clock and the brokers' that is logged, and the one that
   * makes a process unready.
   */
  clockSkewWarnMs: 1 * second,
  clockSkewMaxMs: 5 * second,
  /** The time of a failover after the session of a failed process: a join and the fold. */
  failoverMarginMs: 5 * second,
  /**
   * The time between two searches for overdue units, for each open unit of a partition. 10,000
   * units are searched at most ten times a second.
   */
  tickLookMsPerUnit: 0.01,
  /** The shortest retention of dead letters. People need the time to find them. */
  deadLettersKeptMs: 30 * 24 * 60 * minute,
  /** Bytes of one record's value. The bus may have a lower bound. */
  recordBytesMax: 10 * MiB,
  /** Bytes of a refused record that its dead letter keeps. The whole record stays in its topic. */
  deadLetterBytesMax: 1 * MiB,
  /**
   * Tries to write a performer's observation after retryable errors, and the first wait, doubled
   * each time. All waits together: 3 seconds.
   */
  observationTriesMax: 5,
  observationRetryMs: 200,
  /**
   * Characters of streamed text that wait for the reader of a turn's events. Beyond that, text is
   * left out until the next attempt.
   */
  unreadTextCharactersMax: 8 * MiB,
  /** Other events that wait for that reader. Beyond that, the oldest are left out. */
  unreadEventsMax: 10_000,
  /** The wait before the ends of inboxes are requested again, after a broker could not answer. */
  endsRetryMs: 1 * second,
  /** Refused records that a commit names. Kafka's brokers bound its bytes. */
  refusedKeptMax: 128,
  /** Records that are read at once to fold a unit again. */
  readBackRecordsMax: 512,
  /** How long a shutdown waits for running tools and streams. */
  shutdownGraceMs: 10 * second,
  /**
   * The time for a whole process to stop: shutdownGraceMs, retries of its writes, and leaving its
   * groups. Then it exits.
   */
  shutdownMsMax: 30 * second,
} as const
