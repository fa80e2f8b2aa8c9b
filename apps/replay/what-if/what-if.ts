// Finds the decisions that other policies change, in the inboxes of the deciding stages. It invents
// no response of a model or tool: each round is judged as recorded.

import type { PolicyContent } from '../../../shared/agents/policy/entries.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { stages, type TopicName } from '../../../shared/contract/topology.ts'
import type { GuardProcess } from '../guard/guard-process.ts'
import {
  type PartitionRange,
  type Period,
  partitionsOf,
  type ReadLog,
  rangesOf,
  type TopicRange,
} from '../log-range.ts'
import { type Change, type Changes, earliest, gatherChanges } from './change.ts'
import { guardLens } from './guard-lens.ts'
import { changesCaps } from './overlay.ts'
import { type Lens, policyLens } from './policy-lens.ts'

export type WhatIfOptions = Period & {
  log: ReadLog
  contents: readonly PolicyContent[]
  /** Judges in addition to the only content. */
  guard?: GuardProcess | undefined
  /** Undefined: all. */
  only: ReadonlySet<ConversationId> | undefined
  progress?: { expect(records: number): void; read(records: number): void }
}

/** The changed decisions for each content. `conversations`: the number with a judged round. */
export type WhatIf = { changes: Change[][]; conversations: number }

export async function whatIf({
  log,
  contents,
  guard,
  only,
  progress,
  ...period
}: WhatIfOptions): Promise<WhatIf> {
  const seen = new Set<string>()
  const changes: Change[][] = contents.map(() => [])
  const ofPartitions = (await rangesOf(log, period, partitionsOf(log, only))).map((range) =>
    lensesOn(log, range, { contents, guard, only }),
  )
  for (const { lens } of ofPartitions.flat()) progress?.expect(lens.inbox.to - lens.inbox.from)
  for (const lenses of ofPartitions) {
    for (const { lens } of lenses) {
      const { topic, partition, from, to } = lens.inbox
      for await (const records of batchesOf(log.bus, { topic, partition, from, to })) {
        for (const record of records) {
          if (only?.has(record.key) === false) continue
          await lens.take(record)
        }
        progress?.read(records.length)
      }
    }
    for (const { gathered } of lenses)
      for (const key of gathered[0]?.conversations ?? []) seen.add(key)
    for (const [index, found] of changes.entries())
      found.push(
        ...earliest(lenses.flatMap(({ gathered }) => gathered[index]?.byConversation ?? [])),
      )
    lenses.length = 0 // its state for this partition is no longer needed
  }
  return { changes, conversations: seen.size }
}

type Asked = Pick<WhatIfOptions, 'contents' | 'guard' | 'only'>

function lensesOn(
  log: ReadLog,
  { topics, hasTurn = () => true }: PartitionRange,
  { contents, guard, only }: Asked,
) {
  const lenses: { lens: Lens; gathered: Changes[] }[] = []
  const rangeOf = (topic: TopicName): TopicRange | undefined =>
    topics.find(({ name }) => name === topic)
  const addPolicyLens = (what: 'ladder' | 'caps', inbox: TopicRange): void => {
    const gathered = contents.map(() => gatherChanges())
    const options = { overlays: contents, changes: gathered, hasTurn }
    lenses.push({ lens: policyLens(log, inbox, what, options), gathered })
  }
  const events = rangeOf(stages.conversation.inbox)
  const checked = rangeOf(stages['loop-detector'].inbox)
  const cleared = rangeOf(stages.executor.inbox)
  if (checked !== undefined) addPolicyLens('ladder', checked)
  if (events !== undefined && contents.some(changesCaps)) addPolicyLens('caps', events)
  if (checked !== undefined && cleared !== undefined && guard !== undefined) {
    const changes = gatherChanges()
    lenses.push({
      lens: guardLens(log, checked, { cleared, process: guard, only, changes, hasTurn }),
      gathered: [changes],
    })
  }
  return lenses
}
