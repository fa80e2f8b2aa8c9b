// Every bound of Weir that no setting can raise, with its unit (R7): the hard ceilings over
// shared/settings/settings.ts and agent files, and the sizes of queues and buffers.

const KiB = 1024
const MiB = 1024 * KiB
const second = 1000
const minute = 60 * second

export const limits = {
  /** Hard ceilings of a turn, whatever a message says. */
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
  /** Bytes of an agent's name, and of the fallback, which rides in every request. */
  agentNameBytesMax: 256,
  fallbackBytesMax: 64 * KiB,
  /** Bytes of the names of rules in shadow, which ride in every round. */
  shadowedBytesMax: 4 * KiB,
  /** Bytes of a user's message. */
  userMessageBytesMax: 1 * MiB,
  /** Bytes of a conversation's id. */
  conversationIdBytesMax: 256,
  /** Bytes of a client's message id: a conversation carries the recent ones along. */
  messageIdBytesMax: 256,
  /** Calls of one response; more make the response unusable. */
  responseCallsMax: 256,
  /** Items, blocks or choices of one response, of any kind; more make the response unusable. */
  responseItemsMax: 1_024,
  /** Texts in which a provider may send one call's name. */
  callNameTextsMax: 256,
  /** Bytes of one call's argument text. */
  argumentBytesMax: 1 * MiB,
  /** Bytes of a visible text that is looked at for calls written in it. */
  textCallsBytesMax: 2 * MiB,
  /** Nesting of one call's arguments. */
  argumentDepthMax: 100,
  /** Bytes and nesting of one tool's schema, and how many compiled ones a process keeps. */
  schemaBytesMax: 256 * KiB,
  schemaDepthMax: 128,
  compiledSchemasMax: 256,
  /**
   * References of a schema that are followed to judge one call's arguments: a list of a hundred
   * thousand items takes as many, a careless choice far more.
   */
  schemaStepsMax: 200_000,
  /**
   * UTF-16 units of a text that is matched against a pattern of a schema: many patterns take the
   * square of that in steps.
   */
  patternTextMax: 16 * KiB,
  /**
   * Bytes of parts that are kept for one round over all its attempts; more cut the attempt that is
   * oldest (accumulator, ACC-4).
   */
  roundPartsBytesMax: 6 * MiB,
  /** Attempts of one round whatever an agent says. */
  attemptsMax: 10,
  /** The longest wait for a provider that asked to come back later. */
  retryAfterMsMax: 2 * minute,
  /**
   * Answers of models that one gateway process reads at once, each with the history of its request;
   * further attempts wait in order.
   */
  modelStreamsMax: 512,
  /**
   * How long a gateway waits for the history entry that a request names; no entry, no attempt (R6).
   */
  historyWaitMs: 30 * second,
  /**
   * Bytes of the texts of one request's history: the largest contexts, of two million tokens, are
   * half of it. Few models take so much.
   */
  historyBytesMax: 16 * MiB,
  /**
   * Keys of the history that one step of its expiry looks at, and how far apart steps are; a pass
   * over all of them begins so long after the last.
   */
  historySweepKeysMax: 256,
  historySweepStepMs: 1 * second,
  historySweepEveryMs: 60 * minute,
  /**
   * Entries of one conversation that are taken out of the history in one write; of a longer one the
   * rest goes with the next pass.
   */
  historyForgottenMax: 8_192,
  /** How long a part of a stream may be held back so that several go in one record. */
  partHoldMs: 20,
  partEventsMax: 256,
  /** Bytes of a part's events from which it is written without waiting for more. */
  partBytesMax: 64 * KiB,
  /** Bytes of a provider's body that may come without completing one event of its stream. */
  streamEventBytesMax: 8 * MiB,
  /** Bytes of a provider's error that are read: a reason keeps the beginning of its message. */
  providerErrorBytesMax: 256 * KiB,
  /**
   * Bytes of history entries that a gateway remembers of one partition, so that the next round does
   * not read them again.
   */
  historyKeptBytesMax: 2 * MiB,
  /**
   * How many times an agent's stallMs a provider may send signs of life (comments, pings, pieces of
   * an event) and nothing of an answer.
   */
  wordlessStallsMax: 3,
  /** How long a connection to a provider may take. */
  modelConnectMs: 10 * second,
  /**
   * Bytes of signed or encrypted thinking of one response of Chat Completions; of more nothing goes
   * back.
   */
  reasoningDetailsBytesMax: 1 * MiB,
  /**
   * How long, and for how many bytes, the rest of a provider's answer is read when nobody needs it
   * any more, so that its connection can be kept.
   */
  modelLeaveMs: 1 * second,
  modelLeaveBytesMax: 64 * KiB,
  /**
   * Tokens of one kind that an answer counts as at most, so that no provider's number can break a
   * turn's sum.
   */
  usageTokensMax: 1_000_000_000,
  /**
   * The wait before another attempt where the provider names none: the first, doubled by each
   * failure, and the longest.
   */
  retryBackoffMs: 1 * second,
  retryBackoffMsMax: 30 * second,
  /** Bytes of one call's result; the rest is cut with a note. */
  resultBytesMax: 256 * KiB,
  /** Bytes of all results of a round together. */
  roundResultsBytesMax: 2 * MiB,
  /**
   * What the loop-detector keeps of a turn: streaks of one rule, and results that it has seen; the
   * ones that it met longest ago go first.
   */
  loopStreaksMax: 64,
  loopSeenMax: 512,
  /** Lines of results that are remembered, as hashes. */
  loopLinesMax: 2_048,
  /**
   * Characters of a result or an error in which volatile parts are masked; the rest is compared as
   * it is.
   */
  loopMaskedCharsMax: 16_384,
  /** Strings of a call's arguments that are looked for in its error, and the longest of them. */
  loopEchoesMax: 16,
  loopEchoCharsMax: 256,
  /** Bytes of arguments, of a result and of an error where an intervention quotes them. */
  interventionQuoteBytesMax: 256,
  /** Calls that an intervention quotes, and those that it refers to as evidence. */
  interventionCallsMax: 3,
  interventionEvidenceMax: 16,
  /**
   * How long the accumulator keeps a round, and the loop-detector a turn, that has expired and of
   * which it heard no end.
   */
  turnLingerMs: 1 * minute,
  /** Bytes of the text of a refusal that a tool words itself. */
  refusalTextBytesMax: 8 * KiB,
  /** Bytes of a short reason. */
  reasonBytesMax: 512,
  /**
   * The most that an agent may set for startWithinMs and graceMs: a cancelled turn may have to be
   * waited for so long.
   */
  startWithinMsMax: 10 * minute,
  graceMsMax: 10 * minute,
  /** Longest time a tool may declare. */
  toolTimeoutMsMax: 60 * minute,
  /**
   * Guards that may be in force at once, patterns of tool names that one may have, and bytes of one
   * pattern and of a version.
   */
  guardsMax: 32,
  guardPatternsMax: 64,
  guardPatternBytesMax: 256,
  guardVersionCharsMax: 64,
  /**
   * How long a round may wait for a guard at most, and how much longer guards may make a turn
   * altogether.
   */
  guardDeadlineMsMax: 24 * 60 * minute,
  turnExtensionMsMax: 24 * 60 * minute,
  /**
   * From this deadline on a guard is slow: a round that waits for it makes its turn longer, so that
   * a person's time is not the agent's.
   */
  slowGuardMs: 1 * minute,
  /** Bytes of a guard's code, of its text for the model and of its evidence for people. */
  guardCodeCharsMax: 64,
  guardTextBytesMax: 4 * KiB,
  guardEvidenceBytesMax: 4 * KiB,
  /** Bytes of what the guards of a round want the model to be told, together. */
  guardWishesBytesMax: 16 * KiB,
  /**
   * Bytes of a guard's answer to a round that are copied for the executor: one is read whole or not
   * at all.
   */
  guardVerdictBytesMax: 4 * MiB,
  /**
   * Answers that came before their rounds were waited for, as the executor keeps them for each
   * guard, and their bytes together.
   */
  guardAnswersKeptMax: 1_024,
  guardAnswersKeptBytesMax: 8 * MiB,
  /**
   * How long the executor goes on reading a guard's answers when nothing waits for them, and the
   * wait after a failed read.
   */
  guardFollowIdleMs: 5 * minute,
  guardFollowRetryMs: 1 * second,
  /** How long a guard may judge one round. */
  guardJudgeMsMax: 1 * second,
  /**
   * Bytes of what a guard remembers of a conversation, as JSON; conversations of a partition that
   * one remembers; and how long where it does not say.
   */
  guardStateBytesMax: 64 * KiB,
  guardStatesMax: 100_000,
  guardStateKeptMs: 60 * minute,
  /**
   * Bytes of the rules of the approval guard: they ride in each round; and how many there may be.
   */
  approvalRulesBytesMax: 16 * KiB,
  approvalRulesMax: 64,
  /**
   * An approval expires this much before the executor stops to wait, or a quarter of the wait where
   * that is less: its own text should come first.
   */
  approvalAnswerMs: 10 * second,
  /** Bytes of what a person gives as the reason of a decision, and of who decides. */
  approvalReasonBytesMax: 2 * KiB,
  approvalByBytesMax: 256,
  /**
   * Bytes of what another process may ask of the one that writes the embedded bus: an answer of a
   * guard, in base64.
   */
  outsideRequestBytesMax: 8 * MiB,
  /**
   * Such requests that are open at once: one for each partition of each guard (32 guards, 8
   * partitions).
   */
  outsideRequestsMax: 256,
  /**
   * How long a guard beside that process waits for one that writes there again, and how far apart
   * it asks.
   */
  ownerAwaitedMs: 1 * minute,
  ownerAskedAgainMs: 1 * second,
  /** How long a guard that ends there waits for the word that its last answer is written. */
  ownerLastWordMs: 2 * second,
  /** Bytes of an agent file, and of a file with its instructions. */
  agentFileBytesMax: 1 * MiB,
  /** Bytes of a recorded stream that `weir normalize` reads, and of a file with tools for it. */
  recordingBytesMax: 64 * MiB,
  /** Bytes of a settings file. */
  settingsFileBytesMax: 64 * KiB,
  /** Bytes of a file of certificates and keys; a system's list of authorities has 200 KiB. */
  certificateFileBytesMax: 1 * MiB,
  /** Agent files of one folder. */
  agentFilesMax: 1_000,
  /** Bytes of all tool declarations of one agent: each user's message carries them. */
  agentDeclarationsBytesMax: 4 * MiB,
  /** Tools that one executor process runs at once. */
  runningToolsMax: 16,
  /**
   * How long the word that a tool has started may be held back, so that it is written with the end
   * of one that is quick.
   */
  toolStartedHoldMs: 10,
  /** Bytes of a tool's HTTP response that are read, kept or not; then its connection is closed. */
  toolResponseBytesMax: 64 * MiB,
  /**
   * How long a connection to a tool's server is kept for the next call; many servers close an idle
   * one after 5 seconds.
   */
  toolConnectionIdleMs: 4 * second,
  /**
   * How long the process of a module tool may go on loading its module when the call that it was
   * started for is over.
   */
  moduleLoadMs: 30 * second,
  /** Processes of module tools that wait for a next call, and how long one does. */
  idleModulesMax: 8,
  moduleIdleMs: 5 * minute,
  /**
   * The JavaScript heap of such a process, and the memory above which it is replaced after a call.
   */
  moduleHeapMiBMax: 512,
  moduleMemoryBytesMax: 256 * MiB,
  /** How far apart repeated ticks of one unit are, until it has moved. */
  tickRepeatMs: 1 * second,
  /**
   * How far apart the looks for overdue units are, for each open unit of a partition: 10,000 units
   * are looked through ten times a second at most.
   */
  tickLookMsPerUnit: 0.01,
  /** How long dead letters are kept at least: somebody has to find them. */
  deadLettersKeptMs: 30 * 24 * 60 * minute,
  /** Bytes of one record's value; the bus may have a lower bound. */
  recordBytesMax: 10 * MiB,
  /**
   * Bytes of a refused record that its dead letter keeps; the whole of it stays where it was read.
   */
  deadLetterBytesMax: 1 * MiB,
  /**
   * How often a performer's observation is written where the bus says that a repeat can help, and
   * the first wait, doubled each time: 3 seconds.
   */
  observationTriesMax: 5,
  observationRetryMs: 200,
  /**
   * Characters of streamed text that wait for who reads a turn's events; beyond that they are left
   * out until the next attempt.
   */
  unreadTextCharactersMax: 8 * MiB,
  /**
   * Events of any kind that wait for them, pieces of text aside; beyond that the oldest are left
   * out.
   */
  unreadEventsMax: 10_000,
  /** Records that are read at once to fold a unit again. */
  readBackRecordsMax: 512,
  /** How long a shutdown waits for running tools and streams. */
  shutdownGraceMs: 10 * second,
  /**
   * How long a whole process takes to stop: that, what its writes are tried again, and the leaving
   * of its groups. Then it just ends.
   */
  shutdownMsMax: 30 * second,
} as const
