// The wiring, in one place: which stage reads which topic, what is written there and by whom, and
// what a stage's ports mean. Everything else speaks of stages and ports.
// test/shared/contract/topology.unit.test.ts holds its printed form.
// TOPOLOGY-1. A stage reads exactly one topic (R1).
// TOPOLOGY-2. Derived records are written by a stage's reducer, observed ones by performers, the
//     runtime, the edge or an operator (R3).
// TOPOLOGY-3. All topics have one partition count, and an output goes to the partition number of
//     its input.

import type { Milliseconds } from '../lib/clock.ts'
import type { TopicKind, TopicSpec } from './bus.ts'
import { limits } from './limits.ts'
import type { Message, MessageType } from './messages.ts'
import { retentionMsOf } from './retention.ts'

/** The keys of the table of stages below. */
export type StageName = keyof typeof wirings

/**
 * Who writes a record: a stage's reducer (derived), its performer, the runtime of any stage, the
 * edge (a client), an operator, or a guard.
 */
export type Writer =
  | StageName
  | `${StageName} performer`
  | 'runtime'
  | 'runtime of any stage'
  | 'edge'
  | 'operator'
  | 'guard'

export type TopicName =
  | 'conversation-events'
  | 'model-requests'
  | 'model-deltas'
  | 'rounds-proposed'
  | 'rounds-checked'
  | 'rounds-cleared'
  | 'approvals'
  | 'guard-verdicts.approval'
  | 'history'
  | 'policies'
  | 'activity'
  | 'dead-letters'

/** What a stage calls the places it writes to. */
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
  | 'activity'
  | 'dead-letters'

/** `tombstones`: who takes keys out of a table. */
type Topic = {
  kind: TopicKind
  records: Partial<Record<MessageType, Writer[]>>
  tombstones?: Writer[]
}

export const topics: Record<TopicName, Topic> = {
  'conversation-events': {
    kind: 'log',
    records: {
      'user-message': ['edge'],
      'cancel-requested': ['edge'],
      'round-outcome': ['loop-detector'],
      'turn-extended': ['loop-detector'],
      'turn-failed': ['runtime of any stage'],
      carried: ['conversation'],
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
  'rounds-proposed': { kind: 'log', records: { 'round-proposed': ['accumulator'] } },
  'rounds-checked': {
    kind: 'log',
    records: {
      'round-checked': ['validator'],
      'round-executed': ['executor'],
      'turn-ended': ['conversation'],
      cancel: ['conversation'],
      tick: ['runtime'],
    },
  },
  'rounds-cleared': {
    kind: 'log',
    records: {
      'round-cleared': ['loop-detector'],
      'turn-ended': ['conversation'],
      cancel: ['conversation'],
      claim: ['executor performer'],
      outcome: ['executor performer'],
      lapsed: ['executor performer'],
      'guard-verdict': ['executor performer'],
      tick: ['runtime'],
    },
  },
  approvals: {
    kind: 'log',
    records: {
      'approval-asked': ['executor'],
      'approval-withdrawn': ['executor'],
      'approval-answered': ['edge'],
      tick: ['runtime'],
    },
  },
  // As every guard's: the executor's relay reads it.
  'guard-verdicts.approval': { kind: 'log', records: { 'guard-verdict': ['approval'] } },
  history: {
    kind: 'table',
    records: { 'history-entry': ['conversation'] },
    tombstones: ['llm-gateway performer'],
  },
  policies: {
    kind: 'table',
    records: {
      'operator-limits': ['operator'],
      'agent-policy': ['operator'],
      'guard-registration': ['operator'],
    },
    tombstones: ['operator'],
  },
  activity: {
    kind: 'log',
    records: {
      'turn-started': ['conversation'],
      'round-started': ['conversation'],
      'call-rejected': ['loop-detector'],
      'intervention-raised': ['loop-detector'],
      'calls-waiting': ['executor'],
      'guard-verdict-given': ['executor'],
      'approval-pending': ['approval'],
      'approval-decided': ['approval'],
      'tool-started': ['executor performer'],
      'call-finished': ['executor'],
      'turn-finished': ['conversation'],
    },
  },
  'dead-letters': { kind: 'log', records: { 'dead-letter': ['runtime of any stage'] } },
}

/**
 * Each guard has a topic of its own, so that access rights say who it is. The executor's relay
 * reads it; nobody's inbox.
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
 * The prefix of the keys, in `policies`, of what is set for agents; behind it stands the agent's
 * name, or this for all of them.
 */
export const policyKeyPrefix = 'policy:'
export const everyAgent = '*'

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
 * Ports that every stage has: the runtime tells the conversation of a failed turn, and dead-letters
 * of a record it cannot take.
 */
const common = { conversation: 'conversation-events', 'dead-letters': 'dead-letters' } as const

const wirings = {
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
  'llm-gateway': {
    inbox: 'model-requests',
    unit: 'round',
    mayHaveActed: false,
    ports: { ...common, self: 'model-requests', response: 'model-deltas', history: 'history' },
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
      activity: 'activity',
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
    },
  },
} satisfies Record<string, StageWiring>

export const stages: Record<StageName, StageWiring> = wirings

export const stageNames = Object.keys(stages) as StageName[]

/**
 * The key of a record: the conversation, but for tables, where it names the entry, and dead
 * letters, which keep their own.
 */
export function keyOf(message: Message): string {
  switch (message.type) {
    case 'history-entry':
      return historyKey(message)
    case 'operator-limits':
      return 'operator-limits'
    case 'agent-policy':
      return policyKeyPrefix + message.agent
    case 'guard-registration':
      return guardKeyPrefix + message.name
    case 'dead-letter':
      return message.key
    default:
      return message.conversation
  }
}

/** JSON, so that no conversation's id can look like another's prefix: `["c",3,1]`. */
export function historyKey(entry: { conversation: string; turn: number; round: number }): string {
  return JSON.stringify([entry.conversation, entry.turn, entry.round])
}

/** The prefix of all history keys of a conversation. */
export function historyPrefix(conversation: string): string {
  return `${JSON.stringify([conversation]).slice(0, -1)},`
}

/** The conversation of a key of the history; undefined: it is no such key. */
export function historyConversation(key: string): string | undefined {
  try {
    const parts: unknown = JSON.parse(key)
    return Array.isArray(parts) && parts.length === 3 && typeof parts[0] === 'string'
      ? parts[0]
      : undefined
  } catch {
    return undefined
  }
}

/**
 * All topics with a deployment's prefix and partition count, as a bus creates them. `retentionMs`:
 * how long a record of a log is kept; default: that of the setting. Dead letters are kept longer. A
 * table keeps the newest record of each key; history's are taken away by the gateway.
 */
export function topicSpecs(
  prefix: string,
  partitions: number,
  retentionMs: Milliseconds = retentionMsOf(),
): TopicSpec[] {
  return (Object.keys(topics) as TopicName[]).map((name) => {
    const { kind } = topics[name]
    const spec = { name: prefix + name, kind, partitions }
    if (kind === 'table') return spec
    return {
      ...spec,
      retentionMs:
        name === 'dead-letters' ? Math.max(retentionMs, limits.deadLettersKeptMs) : retentionMs,
    }
  })
}

/** The topic of one guard, as a bus creates it. */
export function guardTopicSpec(
  prefix: string,
  guard: string,
  partitions: number,
  retentionMs: Milliseconds = retentionMsOf(),
): TopicSpec {
  return { name: prefix + guardTopicName(guard), kind: guardTopic.kind, partitions, retentionMs }
}

/**
 * The wiring as text, one topic a line with what may be written there and who reads it. A change of
 * it is seen in review.
 */
export function printTopology(): string {
  const lines: string[] = []
  for (const [name, topic] of Object.entries({
    ...topics,
    [guardTopicName('<guard>')]: guardTopic,
  })) {
    const reader = Object.entries(stages).find(([, stage]) => stage.inbox === name)
    lines.push(
      `${name} (${topic.kind})${reader ? ` -> ${reader[0]}, a unit is ${reader[1].unit}` : ''}`,
    )
    for (const [type, writers] of Object.entries(topic.records))
      lines.push(`    ${type} <- ${writers?.join(', ')}`)
    if (topic.tombstones !== undefined)
      lines.push(`    (tombstone) <- ${topic.tombstones.join(', ')}`)
  }
  return `${lines.join('\n')}\n`
}
