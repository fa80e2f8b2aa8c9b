// The wiring, in one place: the topic that each stage reads, the records and writers of each topic,
// and the ports of each stage. All other code names stages and ports only.
// test/shared/contract/topology.unit.test.ts holds the printed form.
// A stage reads exactly one topic (R1).
// Derived records are written by a stage's reducer, observed ones by performers, the
// runtime, the edge or an operator (R3).
// All topics have one partition count, and an output goes to the partition number of
// its input.

import type { TopicKind } from './bus.ts'
import { type ConversationId, type RoundId, roundKey } from './ids.ts'
import type { ContentKept, Message, MessageType, OperatorBudget, OperatorStop } from './messages.ts'

/** The keys of the table of stages below. */
export type StageName = keyof typeof wirings

/**
 * The writer of a record: a stage's reducer (derived), its performer, the runtime of any stage, the
 * edge (a client), an approver, an operator, a guard, or a front. An approver decides waiting calls.
 * A front stands between a guest and Weir.
 */
export type Writer =
  | StageName
  | `${StageName} performer`
  | 'runtime'
  | 'runtime of any stage'
  | 'edge'
  | 'approver'
  | 'operator'
  | 'guard'
  | 'front'

export type TopicName =
  | 'client-messages'
  | 'conversation-events'
  | 'guest-events'
  | 'model-requests'
  | 'model-deltas'
  | 'rounds-proposed'
  | 'rounds-checked'
  | 'rounds-cleared'
  | 'approvals'
  | 'guard-verdicts.approval'
  | 'history'
  | 'conversation-keys'
  | 'policies'
  | 'budgets'
  | 'activity'
  | 'audit'
  | 'dead-letters'

/** The names of the places that a stage writes to. */
export type Port =
  | 'self'
  | 'conversation'
  | 'model'
  | 'response'
  | 'next'
  | 'tools'
  | 'verdict'
  | 'person'
  | 'history'
  | 'budgets'
  | 'activity'
  | 'audit'
  | 'dead-letters'

/**
 * `tombstones`: the writers that remove keys from a table. `formerly`: writers of an earlier Weir,
 * and the operator whose `weir restore` writes while no stage runs. Their records are still read, and
 * nobody needs the right to write them.
 */
type Topic = {
  kind: TopicKind
  records: Partial<Record<MessageType, Writer[]>>
  tombstones?: Writer[]
  /** No record has a text of a conversation, or `weir forget` replaces it (`audit`). */
  withoutContent?: true
  formerly?: Partial<Record<MessageType, Writer[]>>
}

export const topics: Record<TopicName, Topic> = {
  // The one topic that a client writes.
  'client-messages': {
    kind: 'log',
    records: {
      'content-sent': ['edge'],
      'fork-requested': ['edge'],
      'title-given': ['edge'],
      'user-named': ['edge'],
      'user-message': ['edge'],
      'cancel-requested': ['edge'],
      'result-sent': ['edge'],
    },
  },
  'conversation-events': {
    kind: 'log',
    records: {
      'user-message': ['intake'],
      'cancel-requested': ['intake'],
      'round-outcome': ['loop-detector'],
      'turn-extended': ['loop-detector'],
      'turn-failed': ['runtime of any stage'],
      carried: ['conversation'],
      tick: ['runtime'],
    },
    formerly: { 'user-message': ['edge'], 'cancel-requested': ['edge'] },
  },
  // Of the conversations of guests (`isGuest`).
  'guest-events': {
    kind: 'log',
    records: {
      'guest-round': ['front'],
      'guest-results': ['front'],
      'guest-claim': ['front'],
      'cancel-requested': ['intake'],
      'round-outcome': ['loop-detector'],
      'turn-extended': ['loop-detector'],
      'turn-failed': ['runtime of any stage'],
      'guest-carried': ['guest'],
      tick: ['runtime'],
    },
  },
  'model-requests': {
    kind: 'log',
    records: {
      'model-request': ['conversation'],
      cancel: ['conversation'],
      'attempt-started': ['llm-gateway performer'],
      'attempt-failed': ['llm-gateway performer'],
      'attempt-finished': ['llm-gateway performer'],
      tick: ['runtime'],
    },
  },
  'model-deltas': {
    kind: 'log',
    records: {
      'model-opened': ['llm-gateway'],
      part: ['llm-gateway performer'],
      'model-finished': ['llm-gateway'],
      tick: ['runtime'],
    },
  },
  'rounds-proposed': { kind: 'log', records: { 'round-proposed': ['accumulator', 'guest'] } },
  'rounds-checked': {
    kind: 'log',
    records: {
      'round-checked': ['validator'],
      'round-executed': ['executor'],
      'turn-ended': ['conversation', 'guest'],
      cancel: ['conversation', 'guest'],
      tick: ['runtime'],
    },
  },
  'rounds-cleared': {
    kind: 'log',
    records: {
      'round-cleared': ['loop-detector'],
      'turn-ended': ['conversation', 'guest'],
      cancel: ['conversation', 'guest'],
      claim: ['executor performer'],
      outcome: ['executor performer', 'guest'],
      'verdicts-requested': ['guest'],
      'result-sent': ['intake'],
      lapsed: ['executor performer'],
      'programs-hashed': ['executor performer'],
      'calls-stopped': ['executor performer'],
      'input-requested': ['executor performer'],
      'input-given': ['executor performer'],
      'guard-verdict': ['executor performer'],
      tick: ['runtime'],
    },
    formerly: { cancel: ['operator'] },
  },
  approvals: {
    kind: 'log',
    records: {
      'approval-asked': ['executor'],
      'approval-withdrawn': ['executor'],
      'approval-answered': ['approver'],
      tick: ['runtime'],
    },
  },
  // The executor's relay reads it, like every guard's topic.
  'guard-verdicts.approval': {
    kind: 'log',
    records: { 'guard-verdict': ['approval'], 'input-given': ['approval'] },
  },
  history: {
    kind: 'table',
    records: {
      'history-entry': ['conversation', 'guest'],
      'content-kept': ['intake', 'executor performer'],
      'conversation-forked': ['intake'],
      'conversation-titled': ['intake'],
      'history-summary': ['llm-gateway performer'],
    },
    tombstones: ['intake', 'llm-gateway performer', 'operator'],
  },
  // Empty while no record is encrypted. Only shared/bus/encryption decrypts it.
  'conversation-keys': {
    kind: 'table',
    records: { 'conversation-key': ['edge', 'front', 'operator'] },
    tombstones: ['operator'],
  },
  policies: {
    kind: 'table',
    withoutContent: true,
    records: {
      'operator-limits': ['operator'],
      'partition-count': ['operator', 'runtime'],
      'topic-ids': ['operator', 'runtime'],
      'format-schemas': ['operator', 'runtime'],
      'fleet-format': ['operator', 'runtime'],
      'agent-policy': ['operator'],
      'guard-registration': ['operator'],
      'operator-stop': ['operator'],
      'operator-budget': ['operator'],
      'operator-prices': ['operator'],
      'setting-removed': ['operator'],
    },
    tombstones: ['operator'],
  },
  // The key is the tenant, or the provider's account of a slot, and so is the partition. Empty while no
  // budget and no limit of a provider is in force.
  budgets: {
    kind: 'log',
    withoutContent: true,
    records: {
      'budget-reserved': ['llm-gateway performer', 'executor performer', 'front'],
      'budget-settled': ['llm-gateway performer', 'executor performer', 'front'],
      'budget-released': ['llm-gateway performer', 'executor performer', 'front'],
      'slot-reserved': ['llm-gateway performer', 'front'],
      'slot-renewed': ['llm-gateway performer', 'front'],
      'slot-settled': ['llm-gateway performer', 'front'],
    },
  },
  activity: {
    kind: 'log',
    records: {
      'turn-started': ['conversation', 'guest'],
      'round-started': ['conversation', 'guest'],
      'guest-advice': ['guest'],
      'guest-verdicts': ['executor'],
      'guest-claimed': ['guest'],
      'model-retry': ['llm-gateway'],
      'model-waiting': ['llm-gateway performer'],
      'budget-reached': ['llm-gateway performer', 'guest'],
      'requests-unjudged': ['guest'],
      'model-answered': ['loop-detector'],
      'call-denied': ['loop-detector'],
      'intervention-raised': ['loop-detector'],
      'calls-waiting': ['executor'],
      'guard-verdict-given': ['executor'],
      'approval-pending': ['approval'],
      'approval-decided': ['approval'],
      'tool-started': ['executor performer'],
      'call-offered': ['executor'],
      'call-finished': ['executor'],
      'turn-finished': ['conversation', 'guest'],
      'conversation-forgotten': ['operator'],
    },
  },
  // Evidence, with its own retention. Its writers chain its records as they write them, so no replay
  // compares them (shared/bus/audit/linked-bus.ts).
  audit: {
    kind: 'log',
    withoutContent: true,
    records: {
      'audit-decided': ['approval'],
      'audit-followed': ['executor'],
      'audit-changed': ['operator'],
    },
  },
  'dead-letters': { kind: 'log', records: { 'dead-letter': ['runtime of any stage'] } },
}

/**
 * The topic of one guard. Each guard has its own, so access rights identify the guard. The
 * executor's relay reads it. It is no stage's inbox.
 */
export const guardTopic: Topic = { kind: 'log', records: { 'guard-verdict': ['guard'] } }

export type GuardTopicName = `guard-verdicts.${string}`

/** Without the deployment's prefix. */
export function guardTopicName(guard: string): GuardTopicName {
  return `guard-verdicts.${guard}`
}

/** The prefix of the keys of all guards' registrations in `policies`. */
export const guardKeyPrefix = 'guard:'

/**
 * The prefix of the keys of agents' settings in `policies`. The agent's name follows it. The prefix
 * alone stands for all agents.
 */
export const policyKeyPrefix = 'policy:'
export const everyAgent = '*'

/** The prefix of the keys of stops in `policies`. The id of the stop follows it. */
export const stopKeyPrefix = 'stop:'

/** The id of a stop: `all`, `agent:bank`, `tool:pay_*`, `conversation:c1`. One scope has one. */
export function stopId({ scope, name }: Pick<OperatorStop, 'scope' | 'name'>): string {
  return scope === 'all' ? scope : `${scope}:${name}`
}

/** The name of a topic on a bus, without the prefix. Undefined: the topic has another prefix. */
export function nameWithoutPrefix(topic: string, topicPrefix: string): string | undefined {
  return topic.startsWith(topicPrefix) ? topic.slice(topicPrefix.length) : undefined
}

/** The prefix of the keys of removals in `policies`. The key of the removed setting follows it. */
export const removedKeyPrefix = 'removed:'

/** The prefix of the keys of budgets in `policies`. The id of the budget follows it. */
export const budgetKeyPrefix = 'budget:'

/** The name of a budget that counts each tenant, agent or conversation separately. */
export const eachName = '*'

/** The id of a budget: `acme/tenant/month/usd`, `default/agent:bank/day/tokens`. */
export function budgetId({
  tenant,
  scope,
  name,
  window,
  unit,
}: Pick<OperatorBudget, 'tenant' | 'scope' | 'name' | 'window' | 'unit'>): string {
  const subject = scope === 'tenant' ? scope : `${scope}:${name}`
  return [tenant, subject, window, unit].join('/')
}

/** The key of the operator's prices in `policies`. */
export const pricesKey = 'prices'

/**
 * The key of an operator's changes in `audit`: no conversation has it. The other records have the key
 * of their conversation.
 */
export const auditKeyOfOperator = ''

export const partitionCountKey = 'partition-count'

export const topicIdsKey = 'topic-ids'

/** The prefix of the keys of formats' schemas in `policies`. The format's number follows it. */
export const formatKeyPrefix = 'format:'

/**
 * The keys of the format in force in `policies`. A pin has its own key, so a process that changes the
 * format at the same moment cannot overwrite the pin. Both keys begin with the first one.
 */
export const fleetFormatKey = 'fleet-format'
export const fleetPinKey = 'fleet-format:pin'

/**
 * `mayHaveActed`: whether a call of a round may have run by the time this stage works on the round.
 */
type StageWiring = {
  inbox: TopicName
  unit: 'conversation' | 'turn' | 'round' | 'none'
  mayHaveActed: boolean
  ports: Partial<Record<Port, TopicName>>
}

/**
 * Ports of every stage: the runtime reports a failed turn to the conversation, and writes an
 * unusable record to the dead letters.
 */
const common = { conversation: 'conversation-events', 'dead-letters': 'dead-letters' } as const

const wirings = {
  // First, so the embedded bus gives a message to the conversation in the same tick.
  intake: {
    inbox: 'client-messages',
    unit: 'none',
    mayHaveActed: false,
    ports: { ...common, history: 'history', tools: 'rounds-cleared' },
  },
  conversation: {
    inbox: 'conversation-events',
    unit: 'conversation',
    mayHaveActed: true,
    ports: {
      ...common,
      self: 'conversation-events',
      model: 'model-requests',
      verdict: 'rounds-checked',
      tools: 'rounds-cleared',
      history: 'history',
      activity: 'activity',
    },
  },
  // The twin of the conversation, for agents that own their model and tools.
  guest: {
    inbox: 'guest-events',
    unit: 'conversation',
    mayHaveActed: true,
    ports: {
      ...common,
      self: 'guest-events',
      next: 'rounds-proposed',
      verdict: 'rounds-checked',
      tools: 'rounds-cleared',
      history: 'history',
      activity: 'activity',
    },
  },
  'llm-gateway': {
    inbox: 'model-requests',
    unit: 'round',
    mayHaveActed: false,
    ports: {
      ...common,
      self: 'model-requests',
      response: 'model-deltas',
      history: 'history',
      budgets: 'budgets',
      activity: 'activity',
    },
  },
  accumulator: {
    inbox: 'model-deltas',
    unit: 'round',
    mayHaveActed: false,
    ports: { ...common, self: 'model-deltas', next: 'rounds-proposed' },
  },
  validator: {
    inbox: 'rounds-proposed',
    unit: 'none',
    mayHaveActed: false,
    ports: { ...common, next: 'rounds-checked' },
  },
  'loop-detector': {
    inbox: 'rounds-checked',
    unit: 'turn',
    mayHaveActed: true,
    ports: { ...common, self: 'rounds-checked', tools: 'rounds-cleared', activity: 'activity' },
  },
  executor: {
    inbox: 'rounds-cleared',
    unit: 'turn',
    mayHaveActed: true,
    ports: {
      ...common,
      self: 'rounds-cleared',
      verdict: 'rounds-checked',
      person: 'approvals',
      history: 'history',
      budgets: 'budgets',
      activity: 'activity',
      audit: 'audit',
    },
  },
  approval: {
    inbox: 'approvals',
    unit: 'round',
    mayHaveActed: true,
    ports: {
      ...common,
      self: 'approvals',
      verdict: 'guard-verdicts.approval',
      activity: 'activity',
      audit: 'audit',
    },
  },
} satisfies Record<string, StageWiring>

export const stages: Record<StageName, StageWiring> = wirings

export const stageNames = Object.keys(stages) as StageName[]

const guestPrefix = 'guest:'

/** The owner of the calls that a guest runs. No performer has it. */
export const guestOwner = 'guest'

/** The owner of a call that is offered to the client of its conversation. No performer has it. */
export const clientOwner = 'client'

/** Names the newest turn of a guest, in results of a front that does not know the turn. */
export const newestTurn = '-'

export function guestConversation(agent: string, thread: string): ConversationId {
  return `${guestPrefix}${agent}:${thread}`
}

/** The guest of a conversation. Undefined: the conversation belongs to no guest. */
export function guestOf(conversation: ConversationId): string | undefined {
  if (!isGuest(conversation)) return undefined
  const rest = conversation.slice(guestPrefix.length)
  const end = rest.indexOf(':')
  return end > 0 ? rest.slice(0, end) : undefined
}

/** Whether the conversation is that of a guest: an agent that owns its model and its tools. */
export function isGuest(conversation: ConversationId): boolean {
  return conversation.startsWith(guestPrefix)
}

/**
 * The topic with the records that open the turns of a conversation. A turn's number is an offset in
 * it.
 */
export function inboxOf(conversation: ConversationId): 'conversation-events' | 'guest-events' {
  return isGuest(conversation) ? 'guest-events' : 'conversation-events'
}

/** The port `conversation` leads to two topics: the conversation's and the guests'. */
const twins: Partial<Record<TopicName, TopicName[]>> = {
  'conversation-events': ['conversation-events', 'guest-events'],
}

/**
 * The topic of a record that a stage writes to a port; undefined: it has no such port. The id
 * decides between the twins: a record to the conversation of a guest goes to the stage `guest`. A
 * message of a user does not, so the conversation refuses it.
 */
export function topicOf(stage: StageName, port: Port, message: Message): TopicName | undefined {
  const topic = stages[stage].ports[port]
  const isTwin =
    topic === 'conversation-events' &&
    'conversation' in message &&
    isGuest(message.conversation) &&
    message.type in topics['guest-events'].records
  return isTwin ? 'guest-events' : topic
}

/** All topics that a stage's ports lead to. */
export function topicsWrittenBy(stage: StageName): TopicName[] {
  const ports = Object.values(stages[stage].ports)
  return [...new Set(ports.flatMap((topic) => twins[topic] ?? [topic]))]
}

/**
 * The key of a record: the conversation. In tables it names the entry, and dead letters keep their
 * key.
 */
export function keyOf(message: Message): string {
  switch (message.type) {
    case 'history-entry':
      return historyKey(message)
    case 'history-summary':
      return summaryKey(message.conversation)
    case 'content-kept':
      return contentKey(message)
    case 'conversation-forked':
      return originKey(message.conversation)
    case 'conversation-titled':
      return titleKey(message.conversation)
    case 'conversation-key':
      return JSON.stringify([message.conversation, message.name, 0])
    case 'operator-limits':
      return 'operator-limits'
    case 'partition-count':
      return partitionCountKey
    case 'topic-ids':
      return topicIdsKey
    case 'format-schemas':
      return `${formatKeyPrefix}${message.format}`
    case 'fleet-format':
      return message.isPinned ? fleetPinKey : fleetFormatKey
    case 'agent-policy':
      return policyKeyPrefix + message.agent
    case 'guard-registration':
      return guardKeyPrefix + message.name
    case 'operator-stop':
      return stopKeyPrefix + stopId(message)
    case 'operator-budget':
      return budgetKeyPrefix + budgetId(message)
    case 'operator-prices':
      return pricesKey
    case 'setting-removed':
      return removedKeyPrefix + message.setting
    case 'budget-reserved':
    case 'budget-settled':
    case 'budget-released':
      return message.tenant
    case 'slot-reserved':
    case 'slot-renewed':
    case 'slot-settled':
      return message.account
    case 'audit-changed':
      return auditKeyOfOperator
    case 'dead-letter':
      return message.key
    default:
      return message.conversation
  }
}

/** In JSON, so no conversation's id can look like a prefix of another: `["c",3,1]`. */
export function historyKey(entry: RoundId): string {
  return roundKey(entry)
}

/** The key of a conversation's newest summary in the history: `["c","summary",0]`. */
export function summaryKey(conversation: ConversationId): string {
  return JSON.stringify([conversation, 'summary', 0])
}

/** The key of the record that names the origins of a fork in the history: `["c","origin",0]`. */
export function originKey(conversation: ConversationId): string {
  return JSON.stringify([conversation, 'origin', 0])
}

/** The key of a conversation's title in the history: `["c","title",0]`. */
export function titleKey(conversation: ConversationId): string {
  return JSON.stringify([conversation, 'title', 0])
}

/** The key of a piece of a content in the history: `["c","<hash>",0]`. */
export function contentKey({
  conversation,
  hash,
  piece,
}: Pick<ContentKept, 'conversation' | 'hash' | 'piece'>): string {
  return JSON.stringify([conversation, hash, piece])
}
