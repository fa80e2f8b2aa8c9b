// The approvals as they stand in the log, for lists and for the answer to a decision. It folds the
// stage's inbox with the stage's own functions, so it needs no running stage.
//
// Bounded: it begins two of the longest waits ago. An older call no longer waits,
// and nobody lists it.
// The time of a round never goes back, ticks count and repeats do not, as in the
// runtime. On Kafka a new leader's clock may be behind.

import {
  batchesOf,
  firstOffsetSince,
  leadersApartMs,
  noneIfMissing,
} from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Bus, Offset, PartitionEnds, StoredRecord } from '../../../shared/contract/bus.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import {
  isRepeat,
  type Marks,
  moveMark,
  parseId,
  type ReadId,
} from '../../../shared/runtime/derived-id.ts'
import type { Judge } from '../../../shared/runtime/log/refusals.ts'
import { refusedInLog } from '../../../shared/runtime/log/refused-in-log.ts'
import { type Approval, applyTime } from '../approval.ts'
import { type ApprovalRound, applyRecord, approvalRound } from '../approval-round.ts'
import { approval as stage } from '../reducer.ts'

/** `decidedAt`: the offset of the record that decided it. Undefined: still open, or expired. */
export type ApprovalEntry = { partition: number; approval: Approval; decidedAt: Offset | undefined }

/** One longest wait, and another one in which a late decision can still ask for the outcome. */
const lookBackMs: Milliseconds = 2 * limits.guardDeadlineMsMax + leadersApartMs

export type ApprovalLogOptions = { bus: Pick<Bus, 'ends' | 'read' | 'clock'>; topicPrefix: string }

/** All calls that waited for a person lately, in the order in which their wait began. */
export async function readApprovals(options: ApprovalLogOptions): Promise<ApprovalEntry[]> {
  const topic = `${options.topicPrefix}approvals`
  const partitions = await options.bus.ends(topic).catch(noneIfMissing)
  const partitionEntries = await Promise.all(partitions.map((ends) => readPartition(options, ends)))
  return partitionEntries
    .flat()
    .sort((a, b) => a.approval.request.askedAt - b.approval.request.askedAt)
}

/** The approvals of one partition, up to `end`. */
export async function readPartition(
  { bus, topicPrefix }: ApprovalLogOptions,
  { partition, begin, end }: PartitionEnds,
): Promise<ApprovalEntry[]> {
  const whole = { topic: `${topicPrefix}approvals`, partition, from: begin, to: end }
  const from = await firstOffsetSince(bus, whole, bus.clock.now() - lookBackMs)
  const refused = await refusedInLog({ bus, topicPrefix }, partition)
  const fold = foldOf(partition, refused('approval'))
  for await (const records of batchesOf(bus, { ...whole, from }))
    for (const record of records) fold.apply(record)
  return fold.entries()
}

/** `time`: of the newest record of the round. */
type KnownRound = { round: ApprovalRound; decidedAt: Map<string, Offset>; time: Milliseconds }

function foldOf(partition: number, judge: Judge | undefined) {
  const rounds = new Map<string, KnownRound>()
  const marks: Marks = {}

  return {
    apply(record: StoredRecord): void {
      const id = parseId(record.id)
      if (id !== undefined && isRepeat(marks, id)) return
      if (judge?.(record, id) !== undefined) return
      const message = messageIn(record, id)
      if (message === undefined) return
      if (id !== undefined) moveMark(marks, id)
      const key = message.type === 'tick' ? message.unit : stage.unit(message)
      const known = rounds.get(key)
      if (message.type === 'approval-asked') {
        if (known === undefined)
          rounds.set(key, {
            round: approvalRound(message),
            decidedAt: new Map(),
            time: record.time,
          })
        else known.time = Math.max(known.time, record.time)
        return
      }
      if (known === undefined) return
      const time = Math.max(known.time, record.time)
      // An early tick moves nothing, not even the time of the round.
      if (message.type === 'tick' && time < known.round.expiresAt) return
      known.time = time
      for (const { kind, request } of applyRecord(
        known.round,
        message.type === 'tick' ? undefined : message,
        time,
      ))
        if (kind !== 'expired') known.decidedAt.set(request.id, record.offset)
    },

    entries: (): ApprovalEntry[] =>
      [...rounds.values()].flatMap(({ round, decidedAt }) =>
        round.approvals.map((approval) => ({
          partition,
          approval,
          decidedAt: decidedAt.get(approval.request.id),
        })),
      ),
  }
}

type Kept = Extract<Message, { type: `approval-${'asked' | 'answered' | 'withdrawn'}` | 'tick' }>

/** Undefined: another record, or one by a writer that may not write it. */
function messageIn(
  { key, id: given, value }: StoredRecord,
  id: ReadId | undefined,
): Kept | undefined {
  const message = messageOf(value) // the stage reports an unreadable one
  switch (message?.type) {
    case 'approval-asked':
    case 'approval-withdrawn':
      return id?.stage === 'executor' && message.conversation === key ? message : undefined
    case 'approval-answered':
    case 'tick':
      return given === undefined && message.conversation === key ? message : undefined
    default:
      return undefined
  }
}

/** The approvals that wait at this time. */
export function waitingIn(entries: readonly ApprovalEntry[], now: Milliseconds): ApprovalEntry[] {
  return entries.filter(({ approval }) => applyTime(approval, now).kind === 'pending')
}
