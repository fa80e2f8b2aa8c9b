// Every bound of Weir that no setting can raise, with its unit (R7): the hard ceilings over
// shared/settings/settings.ts and agent files, and the sizes of queues and buffers. A comment with `@public`
// is a row of docs/reference/limits.md, with the values up to the next comment.

const KiB = 1024
const MiB = 1024 * KiB
const second = 1000
const minute = 60 * second

export const limits = {
  /** A turn: rounds, calls, time. No message raises them. @public */
  turnRoundsMax: 1_000,
  turnCallsMax: 10_000,
  turnWallMsMax: 24 * 60 * minute,
  /**
   * Records of one guest that may wait for its outstanding round, and their bytes together. Two for
   * each round of a request that the log does not know, and the request.
   */
  guestPendingMax: 256,
  guestPendingBytesMax: 4 * MiB,
  /** Rounds that a front names in one request, and bytes of the key of a turn or a round. */
  guestKeysMax: 64,
  guestKeyBytesMax: 64,
  /** Keys of a turn's rounds in other words than the log has. More than one request names. */
  guestAliasesMax: 256,
  /** Characters and values of the histories that a front's process keeps read. */
  guestHistoriesSizeMax: 32 * MiB,
  /** Keys of closed turns that a guest's unit keeps, and names of one turn. */
  guestTurnsKeptMax: 16,
  /** A guest's request without a report counts in full after this time. @public */
  guestRequestMs: 60 * minute,
  /** Tokens for a guest's answer without a bound, in budgets. @public */
  guestOutputTokens: 32_000,
  /** A guest's open turn without a record. @public */
  guestIdleMs: 60 * minute,
  /** The same after advice to end the turn. A guest that goes on meanwhile gets the advice again. */
  guestEndedMs: 1 * minute,
  /** A guest's unit begins anew after this time, even between the rounds of a turn. */
  guestUnitMsMax: 24 * 60 * minute,
  /** Bytes of the text of an advice. */
  guestAdviceBytesMax: 16 * KiB,
  /** A front's wait for advice; for verdicts, if the front holds calls. @public */
  guestAdviceMs: 2 * second,
  guestHoldMs: 10 * minute,
  /** The wait of a closing guard until its stages have handled the records in its folder. */
  guestCloseMs: 5 * second,
  /** Guests' requests that wait in a front's process. @public */
  guestsOpenMax: 10_000,
  /** Guests' turns that a front's process keeps open. @public */
  guestTurnsOpenMax: 10_000,
  /** How often a front sends the rounds that the log does not know, for one request of a guest. */
  guestCatchUpsMax: 3,
  /**
   * Rounds of a guest that a front has sent at once and that are not judged yet, and their
   * characters together: a quarter of guestPendingBytesMax.
   */
  guestRoundsSentMax: 16,
  guestRoundsSentCharsMax: 1 * MiB,
  /** A log in memory keeps records that no open turn needs. @public */
  memoryLogMs: 60 * minute,
  /** Records of a unit that a player without a log keeps before it copies the unit's state. */
  memoryRecordsKeptMax: 256,
  /** How long the executor keeps the outcomes of a guest's round that has not arrived. */
  guestEarlyMs: 1 * minute,
  /** Messages that wait while a turn is open; their size together. @public */
  queueMessagesMax: 16,
  queueBytesMax: 1 * MiB,
  /** A file of a program that is hashed as a whole for an approval. */
  programFileBytesMax: 512 * MiB,
  /** Message ids that a conversation remembers, to recognise a repeated message. @public */
  recentMessageIdsMax: 64,
  /** The time for which an idle conversation remembers them. @public */
  conversationIdleMs: 10 * minute,
  /** Bytes of an agent's name, and of the fallback, which every request carries. */
  agentNameBytesMax: 256,
  fallbackBytesMax: 64 * KiB,
  /** Bytes of the names of rules in shadow, which every round carries. */
  shadowedBytesMax: 4 * KiB,
  /** A user's message. @public */
  userMessageBytesMax: 1 * MiB,
  /** A conversation's id. @public */
  conversationIdBytesMax: 256,
  /** Of an agent that a call asks: it names the calls that led to it. Deeper calls fail. */
  callConversationIdBytesMax: 1 * KiB,
  /** The name of a user. */
  userIdBytesMax: 256,
  /** Conversations whose turns are the beginning of one fork: forks of forks. */
  forkOriginsMax: 64,
  /** The wait for the record of a fork or a title in the history, after the request was sent. */
  intakeWaitMs: 10 * second,
  /** Bytes of a client's message id: a conversation carries the recent ids along. */
  messageIdBytesMax: 256,
  /** A title of a conversation. */
  titleBytesMax: 256,
  /** Calls in a response. More make the response unusable. @public */
  responseCallsMax: 256,
  /** Items, blocks or choices of one response. More make the response unusable. */
  responseItemsMax: 1_024,
  /** Texts in which a provider may send one call's name. */
  callNameTextsMax: 256,
  /** A call's arguments. @public */
  argumentBytesMax: 1 * MiB,
  /** Bytes of a visible text that is searched for calls. */
  textCallsBytesMax: 2 * MiB,
  /** Nesting in arguments. @public */
  argumentDepthMax: 100,
  /** Nesting in a body, a provider's answer or an MCP message. @public */
  jsonDepthMax: 512,
  /** Members in all lists and objects in a body. @public */
  bodyMembersMax: 100_000,
  /** A tool's schema: size, nesting; compiled schemas that a process keeps. @public */
  schemaBytesMax: 256 * KiB,
  schemaDepthMax: 128,
  compiledSchemasMax: 256,
  /**
   * References of a schema that are followed, and tests of patterns, to judge one call's arguments. A list of 100,000 items
   * needs as many, a careless `anyOf` far more.
   */
  schemaStepsMax: 200_000,
  /** The parts of all patterns of a schema, with counted repetitions written out. */
  schemaPatternsSizeMax: 10_000,
  /**
   * UTF-16 units of a text that is matched against a pattern of a schema. Many patterns need the
   * square of that in steps.
   */
  patternTextMax: 16 * KiB,
  /** Bytes of the parts that attempt-finished carries, because they are not acknowledged. */
  restBytesMax: 192 * KiB,
  /**
   * Bytes of parts that are kept for one round over all its attempts. More cut the oldest attempt
   * (accumulator).
   */
  roundPartsBytesMax: 6 * MiB,
  /** Attempts for a response. @public */
  attemptsMax: 10,
  /** The longest wait that a provider can request before the next attempt. */
  retryAfterMsMax: 2 * minute,
  /** Responses that one gateway process reads at once. Further attempts wait in order. @public */
  modelStreamsMax: 512,
  /**
   * The wait of a gateway for the history entry that a request names. No entry, no attempt (R6).
   */
  historyWaitMs: 30 * second,
  /** A request's history, with images and files in base64. @public */
  historyBytesMax: 16 * MiB,
  /** How often a round shortens the history because the model's context is full. */
  historyShorteningsMax: 3,
  /** A history's summary; the text for the summarising agent. @public */
  historySummaryBytesMax: 16 * KiB,
  historySummarisedBytesMax: 256 * KiB,
  /** Summaries that a gateway remembers until its copy of the table has them. */
  historySummariesKeptMax: 256,
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
   * Memory for history entries that a gateway keeps for one partition. The next round then need not
   * read them again. The history that was read last may have historyBytesMax.
   */
  historyKeptBytesMax: 8 * MiB,
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
  /** A call's result. The rest is cut, with a note. @public */
  resultBytesMax: 256 * KiB,
  /**
   * Bytes of a tool's output that are kept if its agent file sets none: some 8,000 tokens, which each
   * further request of the conversation repeats.
   */
  outputBytesDefault: 32 * KiB,
  /**
   * Cut in `activity`, whole in the history: a response's text, one call's arguments, one result.
   * @public
   */
  activityTextBytesMax: 64 * KiB,
  activityArgumentBytesMax: 64 * KiB,
  activityResultBytesMax: 16 * KiB,
  /** All results in a round. @public */
  roundResultsBytesMax: 2 * MiB,
  /**
   * Streaks of one rule, and seen results, that the loop-detector keeps for a turn. The oldest go
   * first.
   */
  loopStreaksMax: 64,
  loopSeenMax: 512,
  /** Ids and paths of running things that earlier calls returned. */
  loopIdsMax: 64,
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
  denialTextBytesMax: 8 * KiB,
  /** Bytes of a short reason. */
  reasonBytesMax: 512,
  /**
   * The highest startWithinMs and graceMs of an agent. The next turn may have to wait that long for
   * a cancelled one.
   */
  startWithinMsMax: 10 * minute,
  graceMsMax: 10 * minute,
  /** A message's recorded context. @public */
  recordedContextBytesMax: 64 * KiB,
  /**
   * Images and files in a message or a result: number, one file, all together, a file's name.
   * @public
   */
  contentsMax: 16,
  contentBytesMax: 8 * MiB,
  contentsBytesMax: 10 * MiB,
  contentNameBytesMax: 256,
  /** Bytes of a piece of a content: a record that each Kafka broker accepts. */
  contentPieceBytesMax: 512 * KiB,
  /** Turns of which a process keeps the message that opened them, for the contexts of tools. */
  openingsMax: 1_000,
  /** A message's addition to the instructions. @public */
  questionSystemBytesMax: 64 * KiB,
  /** Further requests for a reply that does not fit its schema. @public */
  outputRetriesMax: 2,
  /** Calls to agents at once in a process. They take no tool's place. @public */
  agentCallsMax: 1_024,
  /** A tool's timeout. @public */
  toolTimeoutMsMax: 60 * minute,
  /** Guards in force, patterns in a guard, one pattern, a name, characters of a version. @public */
  guardsMax: 32,
  guardPatternsMax: 64,
  guardPatternBytesMax: 256,
  guardNameBytesMax: 64,
  guardVersionCharsMax: 64,
  /** A round's wait for a guard; a turn's extension by all guards. @public */
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
  /** Earlier registrations of a guard that its newest one keeps. Rounds of older ones are denied. */
  guardsReplacedMax: 8,
  /** Stops in force. @public */
  stopsMax: 64,
  /** Budgets in force; own prices. @public */
  budgetsMax: 64,
  pricesMax: 256,
  /** How long a gateway waits until it reads its own reservation. */
  budgetReadMs: 10 * second,
  /** Use of a month, and of a turn that began before it. Longer than `onceMsMax`. */
  budgetsKeptMs: 36 * 24 * 60 * minute,
  /** Model requests that wait for a provider's account. @public */
  slotsWaitingMax: 10_000,
  /**
   * A request without its end and without a renewal keeps its place in a provider's account.
   * @public
   */
  slotLeaseMs: 1 * minute,
  /** How often a running request renews its place. A broker is away for less than slotLeaseMs. */
  slotRenewMs: 20 * second,
  /** The requests a minute after a provider refused one for the first time, and the time to the double. */
  slotPaceMin: 20,
  slotPaceDoublesMs: 10 * second,
  /** From this pace on the account counts as free again. */
  slotPaceMax: 10_000,
  /** How long the pace stays that a provider accepted. Then it grows by a twentieth each minute. */
  slotPaceHeldMs: 5 * minute,
  /** After a wait that a provider named, one request goes first, and the next one so much later. */
  slotProbeMs: 3 * second,
  /** The longest wait for tokens that are used above `tokensPerMinute`. */
  slotDebtMsMax: 10 * minute,
  /** Records of a provider's account that a new process reads. */
  slotsKeptMs: 15 * minute,
  /** The time until a process that works finds a new stop. */
  stopLookMs: 250,
  /** A guard's time for one round. @public */
  guardJudgeMsMax: 1 * second,
  /** A partition's rounds that an external guard judges at once. @public */
  guardExternalCallsMax: 16,
  /** How long an external guard that stops waits for its open calls. */
  guardExternalCloseMs: 5 * second,
  /**
   * A guard's memory: one conversation as JSON, conversations in a partition, the default time for
   * an idle conversation. @public
   */
  guardStateBytesMax: 64 * KiB,
  guardStatesMax: 100_000,
  guardStateKeptMs: 60 * minute,
  /** Of a conversation for a guard that sees ends: calls that it follows, and bytes of a result's text. */
  guardFollowedCallsMax: 256,
  guardEndTextBytesMax: 2 * KiB,
  /** The longest `for` in a tool's `once`. @public */
  onceMsMax: 30 * 24 * 60 * minute,
  /** Values that `once` holds in a tenant. @public */
  onceTenantValuesMax: 50_000,
  /** A policy for the guard opa, uncompressed; its memory in pages with 64 KiB. @public */
  opaBundleBytesMax: 64 * MiB,
  opaMemoryPagesMax: 4_096,
  /** Approval rules: size, number. @public */
  approvalRulesBytesMax: 16 * KiB,
  approvalRulesMax: 64,
  /**
   * An approval expires this much before the executor stops waiting, or after three quarters of a
   * short wait. Its own text should come first.
   */
  approvalAnswerMs: 10 * second,
  /** Bytes of the reason of a person's decision, and of the person's name. */
  approvalReasonBytesMax: 2 * KiB,
  approvalByBytesMax: 512,
  /** Bytes of a question of a running tool to a person, and of the values of its answer. */
  inputQuestionBytesMax: 32 * KiB,
  inputValuesBytesMax: 16 * KiB,
  /** Questions of one try of a call. */
  inputsOfTryMax: 16,
  /**
   * A question ends this much before its tool, or after three quarters of a short time. So the tool
   * can still finish.
   */
  inputEndMs: 10 * second,
  /**
   * Bytes of a request from another process to the one that writes the embedded bus: an answer of a
   * guard, in base64.
   */
  outsideRequestBytesMax: 8 * MiB,
  /** Such requests that are open at once: one for each partition (8) of each guard (32). */
  outsideRequestsMax: 256,
  /**
   * How long a guard or a message of another process waits for a new process that writes the bus.
   * The time between two tries of a guard to reach it.
   */
  ownerAwaitedMs: 1 * minute,
  ownerAskedAgainMs: 1 * second,
  /** How long such a guard, when it ends, waits for the acknowledgement of its last answer. */
  ownerLastWordMs: 2 * second,
  /** How long Kafka may keep the bytes of a deleted key of a conversation. */
  keysCompactedMs: 10 * minute,
  /** Conversations in one request to the owner that deletes them. */
  eraseConversationsMax: 1_000,
  /** Processes linked to the owner of a data folder. */
  ownerLinksMax: 256,
  /** Open requests of such a process. Further requests wait. */
  linkRequestsMax: 64,
  /** How long a request on a link waits for its answer. */
  linkAnswerMs: 30 * second,
  /** The contexts of questions that the owner holds for other processes, together, as JSON. */
  linkContextBytesMax: 64 * MiB,
  /** How often a process next to the owner tries to take its place, once it has ended. */
  ownerTriedAgainMs: 100,
  /** How long Weir.open waits for an owner that is starting or ending. */
  ownerStartMs: 15 * second,
  /**
   * How long a process that lacks an agent of the last owner leaves the place to others. How long
   * the new owner waits for the contexts of other processes.
   */
  ownerSucceededMs: 2 * second,
  ownerContextMs: 1 * second,
  /** How long a process that only guards agents leaves the place of an ended owner to others. */
  guestsOwnAfterMs: 300,
  /** An agent file; a file with instructions. @public */
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
  /** Tools that an executor process runs at once. A turn has at most half. @public */
  runningToolsMax: 16,
  /**
   * Bytes of a file with the result of a command tool: JSON may need six for one of its text. How
   * long such a file waits for an executor: longer than any claim. Folders of executors in one data
   * folder. How often a next owner looks for a result.
   */
  keptResultBytesMax: 2 * MiB,
  keptResultMs: 120 * minute,
  keptFoldersMax: 64,
  leftClaimLookMs: 250,
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
  /** How long an MCP server may take to start and to connect, unless its `startMs` sets it. */
  mcpStartMs: 60 * second,
  /** How long an MCP server may take to list its tools, or to answer about its resources. */
  mcpAnswerMsMax: 20 * second,
  /**
   * How long a program may take to name its revision of MCP before it gets the request of older
   * revisions too. Some never answer a request that they do not know.
   */
  mcpProbeMsMax: 3 * second,
  /** How long the gateway waits for slower servers once one server has given its list. */
  mcpSlowerMsMax: 20 * second,
  /** The instructions of all MCP servers behind a gateway. The rest is cut. */
  mcpInstructionsBytesMax: 64 * KiB,
  /** How long the list of an MCP server counts, unless the server says that it changed. */
  mcpListKeptMs: 60 * second,
  /** Pages of the list of an MCP server. */
  mcpToolPagesMax: 64,
  /** An agent's tools from an MCP server. @public */
  mcpToolsMax: 512,
  /** Tools of earlier lists that a round may still call. */
  mcpFormerToolsMax: 1024,
  /** An MCP tool's description. The rest is cut. @public */
  mcpDescriptionBytesMax: 16 * KiB,
  /** A message of an MCP server, and the messages to it that it has not read. */
  mcpMessageBytesMax: 16 * MiB,
  /** All that an MCP server sends while its list is read. */
  mcpListBytesMax: 32 * MiB,
  /**
   * One declaration in the file with the pinned tools, and all of one server. The file has the bound
   * of a list.
   */
  mcpPinBytesMax: 256 * KiB,
  mcpPinsBytesMax: 8 * MiB,
  /** Links to resources in results of MCP servers whose server a gateway remembers. */
  mcpLinksMax: 1024,
  /** Characters of the resource templates of an MCP server that own addresses behind a gateway. */
  mcpTemplateCharsMax: 4 * KiB,
  /** The file with the login of an MCP server. */
  tokenFileBytesMax: 256 * KiB,
  /** How long `weir mcp login` waits for the person in the browser. */
  mcpLoginMsMax: 10 * minute,
  /** HTTP requests to an MCP server that it has not begun to answer. */
  mcpRequestsMax: 256,
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
  /** The shortest retention for dead letters. @public */
  deadLettersKeptMs: 30 * 24 * 60 * minute,
  /** A record. The bus may have a lower bound. @public */
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
  /** Events that wait for the reader of a turn. Then the oldest are left out. @public */
  unreadEventsMax: 10_000,
  /** Records of a conversation that wait for a follower, and their bytes. The log has those beyond. */
  followedRecordsMax: 64,
  followedBytesMax: 256 * KiB,
  /** Called tools in a view of a turn, bytes of a name, bytes of a round's searched texts. */
  turnToolNamesMax: 64,
  turnToolNameBytesMax: 128,
  searchTextBytesMax: 256 * KiB,
  /** A search: different words, size, time. @public */
  searchWordsMax: 16,
  searchBytesMax: 1 * KiB,
  searchMsMax: 5 * second,
  /** Conversations that one command lists. */
  conversationsListedMax: 100_000,
  /** Conversations of a tree that its timeline lists. */
  treeListedMax: 1_000,
  /** The wait for the history of a call's round, which follows the result of its last call. */
  wholeCallWaitMs: 5 * second,
  /** The wait for the end of a call after its client has sent the result. */
  resultSentWaitMs: 10 * second,
  /** Records of an inbox that a reader of its outputs supposes beyond the last known end. */
  inputsAheadMax: 64,
  /** The wait before the ends of inboxes are requested again, after a broker could not answer. */
  endsRetryMs: 1 * second,
  /** Refused records that a commit names. Kafka's brokers bound its bytes. */
  refusedKeptMax: 128,
  /** A hook's body. @public */
  hookBodyBytesMax: 16 * MiB,
  /** Calls of a host without a history that begin within this time are calls of one message. */
  callJoinMs: 20,
  /** The MCP gateway begins a new turn after this time without a call. @public */
  gatewayIdleMs: 10 * minute,
  /** Calls that the MCP gateway holds in a conversation. @public */
  gatewayCallsMax: 256,
  /** How often a host that wants progress gets it while its call waits for a person. */
  gatewayPingMs: 10 * second,
  /** How often a host may ask for a task whose call waits for a person. */
  gatewayPollMs: 2 * second,
  /** The results of tasks that a conversation of the gateway keeps for its host. */
  gatewayTaskBytesMax: 32 * MiB,
  /** The wait of a hook for the verdicts of a message that also passes the proxy. */
  hookProxyMs: 5 * second,
  /** Sessions of hosts that a server follows, the newest calls of each, and ends of sub-agents. */
  hookSessionsMax: 1_000,
  hookCallsMax: 256,
  hookAgentsMax: 16,
  /** Bytes of the headers of one request to the HTTP server, and the time until they are complete. */
  httpHeaderBytesMax: 64 * KiB,
  httpHeadersMs: 10 * second,
  /** How often the server looks for requests that arrive too slowly. Node's own value is 30 s. */
  httpLateCheckMs: 2 * second,
  /** The time until the whole request has arrived. */
  httpRequestMs: 5 * minute,
  httpConnectionsMax: 4_096,
  /** Requests at a time on one connection of HTTP/2. */
  http2StreamsMax: 100,
  /**
   * How long a connection without a request is kept. A model may think for minutes, and most clients
   * close idle connections themselves before. A request on a connection that this server has just
   * closed fails, and a host then denies the call or ends the turn.
   */
  httpIdleMs: 15 * minute,
  /**
   * Bytes of all unfinished bodies of one process. Beyond it, a body without a new piece for the
   * given time makes room.
   */
  httpBodiesBytesMax: 256 * MiB,
  httpBodyStalledMs: 5 * second,
  /** A request to a front. @public */
  frontBodyBytesMax: 64 * MiB,
  /** The command that prints credentials of AWS, and how long before their end the proxy renews them. */
  awsCommandMs: 30 * second,
  awsCommandBytesMax: 64 * KiB,
  awsCredentialsSpareMs: 5 * minute,
  /** Conversations whose names a proxy remembers, oldest first out. */
  frontConversationsMax: 10_000,
  /**
   * Sessions of clients that a proxy remembers by their conversation, by a call and by their first
   * text, oldest first out, and the first texts of one client.
   */
  frontSessionsMax: 10_000,
  frontBeginningsMax: 16,
  /** Answers with calls in a row that no request has shown, until a proxy warns. */
  unshownAnswersMax: 10,
  /** Denied requests in a row of a client that requires calls, until not each one reaches the model. */
  deniedRequestsMax: 4,
  /** Texts at the end of a turn for a client that goes on without its user. Then it gets an error. */
  endsShownMax: 3,
  /** How often a proxy with a veto repeats one request after a denied answer. */
  proxyRepeatsMax: 3,
  /** The wait of such a proxy for advice, and for the next bytes of the upstream. */
  proxyAdviceMs: 30 * second,
  proxySilenceMs: 10 * minute,
  /** A proxy holds a request for its provider's limits. @public */
  proxySlotWaitMs: 60 * second,
  /** How often a client that waits in a stream gets an event without content. */
  proxyPingMs: 10 * second,
  /** Kinds of unjudged requests that a proxy counts apart, the bytes of their names, and the time
   * between two reports of known kinds. */
  unjudgedKindsMax: 64,
  unjudgedKindBytesMax: 96,
  unjudgedReportMs: 10 * second,
  /** Guests without a file that one server keeps open. */
  frontAgentsMax: 64,
  /**
   * The console: open turns that count; open turns, decisions, and pairs of agent and rule that it
   * shows. */
  consoleTurnsMax: 10_000,
  consoleTurnsShownMax: 200,
  consoleDecisionsMax: 50,
  consolePairsMax: 200,
  /** How often a call may be given back unstarted, and the pauses before its next claims, which double. */
  callReturnsMax: 10,
  callReturnPauseMs: 250,
  callReturnPauseMsMax: 30 * second,
  /** The pause before the format in force is followed again, and between two looks at the members of a fleet. */
  fleetLookMs: second,
  fleetMembersLookMs: 15 * second,
  /** How long a process that starts asks again while brokers refuse, such as in a rebalance. */
  startRefusedMs: 10 * minute,
  /** How long all members of a fleet must know a format before a process raises it. */
  fleetSettledMs: minute,
  /** Removals of settings that `policies` keeps with their authors. */
  settingsRemovedKept: 20,
  /** A setting in the evidence of its change. Of a larger one it has the size and the hash. */
  auditSettingBytesMax: 256 * KiB,
  /** Entries that `weir audit` holds, the newest. @public */
  auditEntriesMax: 100_000,
  /** Of these, an answer of the console's API has the newest. */
  consoleAuditMax: 1_000,
  /** A file of the API has the newest, and at most these bytes. */
  auditExportMax: 10_000,
  auditExportBytesMax: 64 * MiB,
  /** Rounds of an open turn whose tokens the console keeps, and rounds whose money it keeps. */
  consoleRoundsKept: 64,
  consoleRoundsPricedMax: 20_000,
  /**
   * Waiting calls in the console; their arguments together. `weir approvals` has no such limit. */
  consoleInboxMax: 1_000,
  consoleInboxBytesMax: 4 * MiB,
  /** Tools whose last allowed arguments the console keeps, and the bytes of one. */
  consoleAllowedMax: 256,
  consoleAllowedBytesMax: 64 * KiB,
  /** A turn without a record for so long is shown as stalled, unless a person or a guest has it. */
  consoleStalledMs: 2 * minute,
  /** Open streams of the console, the pause between two states, and the longest silence. */
  consoleViewersMax: 256,
  consolePauseMs: 200,
  consoleRefreshMs: 5 * second,
  /** Reports of conversations that the console makes at once. */
  consoleReportsMax: 2,
  /** Answers of logins for which the console asks the issuer at once. */
  consoleLoginsMax: 8,
  /** A bundle that the console sends, which it reads into memory. */
  consoleExportBytesMax: 64 * MiB,
  /** Dead letters in the console. `weir dead-letters` has no such limit. */
  consoleLettersMax: 200,
  /**
   * The what-if of the console: recent turns to choose from, turns, records. `weir replay` has no
   * such limit. */
  consoleRecentTurnsMax: 2_000,
  consoleWhatIfTurnsMax: 200,
  consoleWhatIfRecordsMax: 100_000,
  /** Records between two pauses of a what-if, and changed turns that it shows for a value. */
  consoleWhatIfStepMax: 64,
  consoleTurnChangesMax: 20,
  /**
   * The money of conversations: records in each partition that count, the newest; conversations. */
  moneyRecordsMax: 200_000,
  moneyConversationsMax: 100_000,
  /** Attempts that are kept to count each once. */
  moneyAttemptsMax: 10_000,
  /** A guard's records in a partition that the console counts, the newest. */
  consoleVerdictsMax: 20_000,
  /** Changed tools of MCP servers on the page of the console. */
  consoleHeldToolsMax: 50,
  /** Accounts of one budget that the console shows, those with the most use. */
  consoleAccountsMax: 50,
  /** The webhook: waiting events, requests at once, tries for an event. @public */
  webhookQueueMax: 1_000,
  webhookRequestsMax: 4,
  webhookTriesMax: 6,
  /**
   * The first pause between two tries, the time of a request, the ids that are kept, and the oldest
   * events of a new server.
   */
  webhookRetryMs: second,
  webhookMs: 10 * second,
  webhookSeenMax: 10_000,
  webhookLateMs: 10 * minute,
  /** Bytes of a request to the console. */
  consoleBodyBytesMax: 64 * KiB,
  /** A request to `weir serve`: size, nesting. @public */
  edgeBodyBytesMax: 18 * MiB,
  edgeBodyDepthMax: 64,
  /** A client's requests in a minute. `--requests-per-minute` changes the bound. @public */
  edgeRequestsPerMinute: 6_000,
  /** A client's open answers; the sum without the role `operate`. @public */
  edgeOpenAnswersMax: 512,
  edgeOpenAnswersSharedMax: 3_584,
  /** Principals whose requests a server counts, and messages that it remembers, oldest first out. */
  edgePrincipalsMax: 10_000,
  /** Messages that `weir serve` remembers. */
  edgeMessagesMax: 10_000,
  /** After its end, an equal message without an id counts as repeated for this time. @public */
  edgeRepeatMs: 10 * minute,
  /** How often an open stream of the edge gets a comment. */
  edgePingMs: 15 * second,
  /** Characters of the events that a stream of the edge sends as one piece. */
  edgePieceCharsMax: 16 * KiB,
  /** Answers to approvals in one request of a chat client. */
  edgeAnswersMax: 256,
  /** A file with API keys: keys, size. @public */
  edgeKeysMax: 10_000,
  edgeKeyFileBytesMax: 8 * MiB,
  /** How long a replaced key may count. */
  edgeKeyOverlapMsMax: 365 * 24 * 60 * minute,
  /** A shutdown's wait for running tools and streams. @public */
  shutdownGraceMs: 10 * second,
  /**
   * The time for a whole process to stop: shutdownGraceMs, retries of its writes, and leaving its
   * groups. Then it exits.
   */
  shutdownMsMax: 30 * second,
  /** Answers and calls that an adapter of a foreign framework keeps, for verdicts and refusals. */
  adapterRoundsMax: 64,
  adapterCallsMax: 1_000,
} as const
