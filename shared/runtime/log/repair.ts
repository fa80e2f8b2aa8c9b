// The repair of a commit that is outside its log: the reader goes on at the end of the partition,
// and forgets its open units. Records before the end are not applied, so nothing of them starts.
// The marks come from the old commit and from every record of the log. A repeat of a
// record from before the repair is dropped (R3), so no round opens a second time.
// A commit after the end is not repaired: readers downstream have marks that new records
// would stay below for as long as the log is shorter.

import { messageOf } from '../../codec/message-of.ts'
import type { Assignment, Commit, StoredRecord } from '../../contract/bus.ts'
import type { Message } from '../../contract/messages.ts'
import { type StageName, stages, topics } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import { isObject, objectIn } from '../../lib/json/json-object.ts'
import { isRepeat, type Marks, moveMark, parseId } from '../derived-id.ts'
import { positionAt, toCommit } from './position.ts'

/** `reason`: the error of the stage. `unread`: records that a repair skips. */
export type CommitFault =
  | { kind: 'repairable'; reason: string; unread: number }
  | { kind: 'ahead'; reason: string }

/** Undefined: a stage can start at this commit. */
export function faultOf(assignment: Assignment): CommitFault | undefined {
  try {
    positionAt(assignment)
    return undefined
  } catch (error) {
    const { committed, ends } = assignment
    if (!(error instanceof WeirError) || committed === undefined) throw error
    const reason = error.message
    if (committed.offset > ends.end) return { kind: 'ahead', reason }
    const unread = ends.end - Math.max(committed.offset, ends.begin)
    return { kind: 'repairable', reason, unread }
  }
}

/** `endOf`: the end of a writer's inbox in a partition, which no id of it can exceed. */
export type RepairOptions = {
  assignment: Assignment
  records: AsyncIterable<StoredRecord[]>
  endOf(stage: StageName, partition: number): Promise<number>
}

/** `records`: all of the partition, from its begin to `assignment.ends.end`. */
export async function repairedCommit({
  assignment: { committed, ends },
  records,
  endOf,
}: RepairOptions): Promise<Commit> {
  const marks = marksOf(committed)
  for await (const batch of records)
    for (const record of batch) {
      const id = parseId(record.id)
      if (id === undefined || isRepeat(marks, id) || !mayDerive(id.stage, record)) continue
      if (id.offset < (await endOf(id.stage as StageName, id.partition))) moveMark(marks, id)
    }
  return toCommit({ done: ends.end, from: ends.end, marks })
}

function marksOf(committed: Commit | undefined): Marks {
  const { marks } = objectIn(committed?.metadata) ?? {}
  return isObject(marks) ? { ...(marks as Marks) } : {}
}

/** Whether this stage writes such records: a stranger's id moves no mark. */
function mayDerive(stage: string, { value }: StoredRecord): boolean {
  const message = messageOf(value)
  if (message === undefined || !Object.hasOwn(stages, stage)) return false
  const writers = writersOf(message.type)
  return writers.some((writer) => writer === stage || writer === 'runtime of any stage')
}

function writersOf(type: Message['type']): string[] {
  return Object.values(topics).flatMap(({ records }) => records[type] ?? [])
}
