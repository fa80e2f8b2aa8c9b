// The bounds that no setting can raise and that users may meet or several folders need, each with its unit (R7).
// A bound of a single place is a constant there. A comment with `@public` is a row of docs/reference/limits.md,
// with the values up to the next comment.

const KiB = 1024
const MiB = 1024 * KiB
const second = 1000
const minute = 60 * second

export const limits = {
  /** A turn: rounds, calls, time. No message raises them. @public */
  turnRoundsMax: 1_000,
  turnCallsMax: 10_000,
  turnWallMsMax: 24 * 60 * minute,
  /** Rounds that a front names in one request, and bytes of the key of a turn or a round. */
  guestKeysMax: 64,
  guestKeyBytesMax: 64,
  /** A guest's request without a report counts in full after this time. @public */
  guestRequestMs: 60 * minute,
  /** Tokens for a guest's answer without a bound, in budgets. @public */
  guestOutputTokens: 32_000,
  /** A guest's open turn without a record. @public */
  guestIdleMs: 60 * minute,
  /** A front's wait for advice; for verdicts, if the front holds calls. @public */
  guestAdviceMs: 2 * second,
  guestHoldMs: 10 * minute,
  /** Guests' requests that wait in a front's process. @public */
  guestsOpenMax: 10_000,
  /** Guests' turns that a front's process keeps open. @public */
  guestTurnsOpenMax: 10_000,
  /** A log in memory keeps records that no open turn needs. @public */
  memoryLogMs: 60 * minute,
  /** Messages that wait while a turn is open; their size together. @public */
  queueMessagesMax: 16,
  queueBytesMax: 1 * MiB,
  /** Message ids that a conversation remembers, to recognise a repeated message. @public */
  recentMessageIdsMax: 64,
  /** The time for which an idle conversation remembers them. @public */
  conversationIdleMs: 10 * minute,
  /** Bytes of an agent's name, and of the fallback, which every request carries. */
  agentNameBytesMax: 256,
  fallbackBytesMax: 64 * KiB,
  /** A user's message. @public */
  userMessageBytesMax: 1 * MiB,
  /** A conversation's id. @public */
  conversationIdBytesMax: 256,
  /** Conversations whose turns are the beginning of one fork: forks of forks. */
  forkOriginsMax: 64,
  /** The wait for the record of a fork or a title in the history, after the request was sent. */
  intakeWaitMs: 10 * second,
  /** Bytes of a client's message id: a conversation carries the recent ids along. */
  messageIdBytesMax: 256,
  /** Calls in a response. More make the response unusable. @public */
  responseCallsMax: 256,
  /** Items, blocks or choices of one response. More make the response unusable. */
  responseItemsMax: 1_024,
  /** A call's arguments. @public */
  argumentBytesMax: 1 * MiB,
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
   * UTF-16 units of a text that is matched against a pattern of a schema. Many patterns need the
   * square of that in steps.
   */
  patternTextMax: 16 * KiB,
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
  /** A request's history, with images and files in base64. @public */
  historyBytesMax: 16 * MiB,
  /** A history's summary; the text for the summarising agent. @public */
  historySummaryBytesMax: 16 * KiB,
  historySummarisedBytesMax: 256 * KiB,
  /** Bytes of a provider's body without one complete event of its stream. */
  streamEventBytesMax: 8 * MiB,
  /** The time to connect to a provider. */
  modelConnectMs: 10 * second,
  /**
   * Bytes of signed or encrypted thinking of one Chat Completions response. If there are more, none
   * of it is sent back.
   */
  reasoningDetailsBytesMax: 1 * MiB,
  /**
   * The highest count of tokens of one kind in a response. No provider's number can break a turn's
   * sum.
   */
  usageTokensMax: 1_000_000_000,
  /** A call's result. The rest is cut, with a note. @public */
  resultBytesMax: 256 * KiB,
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
  /**
   * Characters of a result or an error in which volatile parts are masked. The rest is compared
   * unchanged.
   */
  loopMaskedCharsMax: 16_384,
  /** Strings of a call's arguments that are searched in its error, and the longest of them. */
  loopEchoesMax: 16,
  loopEchoCharsMax: 256,
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
   * Characters of a guard's code, bytes of its text for the model and of its evidence for people.
   */
  guardCodeCharsMax: 64,
  guardTextBytesMax: 4 * KiB,
  guardEvidenceBytesMax: 4 * KiB,
  /**
   * Bytes of a guard's answer to a round that is copied for the executor. A longer answer is not
   * copied at all.
   */
  guardVerdictBytesMax: 4 * MiB,
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
  /** Stops in force. @public */
  stopsMax: 64,
  /** Budgets in force; own prices. @public */
  budgetsMax: 64,
  pricesMax: 256,
  /** How long a gateway waits until it reads its own reservation. */
  budgetReadMs: 10 * second,
  /** Model requests that wait for a provider's account. @public */
  slotsWaitingMax: 10_000,
  /**
   * A request without its end and without a renewal keeps its place in a provider's account.
   * @public
   */
  slotLeaseMs: 1 * minute,
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
  /** Questions of one try of a call. */
  inputsOfTryMax: 16,
  /**
   * Bytes of a request from another process to the one that writes the embedded bus: an answer of a
   * guard, in base64.
   */
  outsideRequestBytesMax: 8 * MiB,
  /**
   * How long a guard or a message of another process waits for a new process that writes the bus.
   * The time between two tries of a guard to reach it.
   */
  ownerAwaitedMs: 1 * minute,
  ownerAskedAgainMs: 1 * second,
  /** How long Kafka may keep the bytes of a deleted key of a conversation. */
  keysCompactedMs: 10 * minute,
  /** How often a process next to the owner tries to take its place, once it has ended. */
  ownerTriedAgainMs: 100,
  /** An agent file; a file with instructions. @public */
  agentFileBytesMax: 1 * MiB,
  /** Bytes of a settings file. */
  settingsFileBytesMax: 64 * KiB,
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
  /** How long an MCP server may take to start and to connect, unless its `startMs` sets it. */
  mcpStartMs: 60 * second,
  /** How long an MCP server may take to list its tools, or to answer about its resources. */
  mcpAnswerMsMax: 20 * second,
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
   * The JavaScript heap of such a process, and the memory above which it is replaced after a call.
   */
  moduleHeapMiBMax: 512,
  moduleMemoryBytesMax: 256 * MiB,
  /**
   * The difference between this machine's clock and the brokers' that is logged, and the one that
   * makes a process unready.
   */
  clockSkewWarnMs: 1 * second,
  clockSkewMaxMs: 5 * second,
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
  /** Events that wait for the reader of a turn. Then the oldest are left out. @public */
  unreadEventsMax: 10_000,
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
  /** A hook's body. @public */
  hookBodyBytesMax: 16 * MiB,
  /** Calls of a host without a history that begin within this time are calls of one message. */
  callJoinMs: 20,
  /** The MCP gateway begins a new turn after this time without a call. @public */
  gatewayIdleMs: 10 * minute,
  /** Calls that the MCP gateway holds in a conversation. @public */
  gatewayCallsMax: 256,
  /** Sessions of hosts that a server follows, the newest calls of each, and ends of sub-agents. */
  hookSessionsMax: 1_000,
  hookCallsMax: 256,
  hookAgentsMax: 16,
  /** A request to a front. @public */
  frontBodyBytesMax: 64 * MiB,
  /** Conversations whose names a proxy remembers, oldest first out. */
  frontConversationsMax: 10_000,
  /** A proxy holds a request for its provider's limits. @public */
  proxySlotWaitMs: 60 * second,
  /** Kinds of unjudged requests that a proxy counts apart, the bytes of their names, and the time
   * between two reports of known kinds. */
  unjudgedKindsMax: 64,
  unjudgedKindBytesMax: 96,
  unjudgedReportMs: 10 * second,
  /** Guests without a file that one server keeps open. */
  frontAgentsMax: 64,
  /**
   * The console: open turns that count; open turns, decisions, and pairs of agent and rule that it
   * shows.
   */
  consoleTurnsMax: 10_000,
  consoleTurnsShownMax: 200,
  consoleDecisionsMax: 50,
  consolePairsMax: 200,
  /** The pause before the format in force is followed again, and between two looks at the members of a fleet. */
  fleetLookMs: second,
  fleetMembersLookMs: 15 * second,
  /** How long all members of a fleet must know a format before a process raises it. */
  fleetSettledMs: minute,
  /** Removals of settings that `policies` keeps with their authors. */
  settingsRemovedKept: 20,
  /** Entries that `weir audit` holds, the newest. @public */
  auditEntriesMax: 100_000,
  /** Open streams of the console, the pause between two states, and the longest silence. */
  consoleViewersMax: 256,
  consolePauseMs: 200,
  consoleRefreshMs: 5 * second,
  /** Reports of conversations that the console makes at once. */
  consoleReportsMax: 2,
  /**
   * The what-if of the console: recent turns to choose from, turns, records. `weir replay` has no
   * such limit.
   */
  consoleRecentTurnsMax: 2_000,
  consoleWhatIfTurnsMax: 200,
  consoleWhatIfRecordsMax: 100_000,
  /** The webhook: waiting events, requests at once, tries for an event. @public */
  webhookQueueMax: 1_000,
  webhookRequestsMax: 4,
  webhookTriesMax: 6,
  /** A request to `weir serve`: size, nesting. @public */
  edgeBodyBytesMax: 18 * MiB,
  edgeBodyDepthMax: 64,
  /** A client's requests in a minute. `--requests-per-minute` changes the bound. @public */
  edgeRequestsPerMinute: 6_000,
  /** A client's open answers; the sum without the role `operate`. @public */
  edgeOpenAnswersMax: 512,
  edgeOpenAnswersSharedMax: 3_584,
  /** Messages that `weir serve` remembers. */
  edgeMessagesMax: 10_000,
  /** After its end, an equal message without an id counts as repeated for this time. @public */
  edgeRepeatMs: 10 * minute,
  /** A file with API keys: keys, size. @public */
  edgeKeysMax: 10_000,
  edgeKeyFileBytesMax: 8 * MiB,
  /** A shutdown's wait for running tools and streams. @public */
  shutdownGraceMs: 10 * second,
  /** Answers and calls that an adapter of a foreign framework keeps, for verdicts and refusals. */
  adapterRoundsMax: 64,
  adapterCallsMax: 1_000,
} as const
