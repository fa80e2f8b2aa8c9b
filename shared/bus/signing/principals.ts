// The principals that sign records, from the topology: those that may sign a type of record in a
// topic, and the topics that a principal checks. A principal is a stage, `edge` (clients), `front` (of
// guests), `approver`, `operator` or `guard.NAME`.

import type { MessageType } from '../../contract/messages.ts'
import {
  guardTopicName,
  type StageName,
  stageNames,
  stages,
  type TopicName,
  topics,
  type Writer,
} from '../../contract/topology.ts'

export const outsiders = ['edge', 'front', 'approver', 'operator'] as const

/** The principal of a guard. Its records stand in the guard's own topic. */
export function guardPrincipal(guard: string): string {
  return `guard.${guard}`
}

/**
 * The principals that may sign a record of this type in a topic without prefix. `tombstone`: a
 * removed key of a table. Empty: nobody.
 */
export function signersOf(topic: string, type: MessageType | 'tombstone'): readonly string[] {
  const inTopic = signers.get(topic)
  if (inTopic !== undefined) return inTopic.get(type) ?? []
  const guard = topic.startsWith(guardTopicName('')) ? topic.slice(guardTopicName('').length) : ''
  return guard !== '' && type === 'guard-verdict' ? [guardPrincipal(guard)] : []
}

const signers = new Map(
  (Object.keys(topics) as TopicName[]).map((topic): [string, Map<string, string[]>] => {
    const { records, tombstones = [] } = topics[topic]
    const all = Object.entries({ ...records, tombstone: tombstones })
    return [
      topic,
      new Map(
        all.map(([type, writers]) => [
          type,
          [...new Set(writers.flatMap((writer) => principalsOf(writer, topic)))],
        ]),
      ),
    ]
  }),
)

function principalsOf(writer: Writer, topic: TopicName): string[] {
  if (writer === 'runtime of any stage') return stageNames
  if (writer === 'runtime') return stageNames.filter((name) => stages[name].inbox === topic)
  return [writer.replace(/ performer$/, '')]
}

/** The topics that the principal signs in, without prefix. */
export function topicsSignedBy(principal: string): string[] {
  const guard = principal.startsWith('guard.') ? principal.slice('guard.'.length) : undefined
  if (guard !== undefined) return [guardTopicName(guard)]
  return Object.keys(topics).filter((topic) => writersOf(topic).includes(principal))
}

/** All principals that sign in a topic. */
export function writersOf(topic: string): string[] {
  return [...new Set([...(signers.get(topic)?.values() ?? [])].flat())]
}

/** The topics that decide for the principal, next to a stage's inbox. */
const alsoReads: Partial<Record<string, TopicName[]>> = {
  'llm-gateway': ['history', 'policies', 'budgets'],
  executor: ['policies', 'budgets', 'guard-verdicts.approval'],
  edge: ['activity'],
  front: ['policies', 'activity', 'budgets'],
  operator: ['policies'],
}

/** The topics whose records the principal checks, with their writers. `guards`: all guards' names. */
export function checkedBy(principal: string, guards: readonly string[]): Map<string, string[]> {
  const inbox = stageNames.includes(principal as StageName)
    ? [stages[principal as StageName].inbox]
    : []
  const checked = new Map(
    [...inbox, ...(alsoReads[principal] ?? [])].map((topic) => [topic as string, writersOf(topic)]),
  )
  if (principal === 'executor')
    for (const guard of guards) checked.set(guardTopicName(guard), [guardPrincipal(guard)])
  return checked
}
