// What waits for a person and what was decided, as it stands in the log: for whoever lists, and for
// whoever decides and wants to know what counted. It folds the inbox of the stage with the stage's
// own functions, so it knows the same without asking it; also beside a stage that does not run.
// BOOK-1. Bounded: it begins where the oldest call that may still wait was asked about, or was
//     decided long enough ago that nobody will ask.
// BOOK-2. The time of a round never goes back, ticks count and repeats do not, as in the runtime:
//     on Kafka a new leader's clock may be behind, and a decision that comes after the tick that
//     expired its call must not count here by its own earlier time.

import { batchesOf, firstOffsetSince, leadersApartMs } from '../../shared/bus/range.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus, Offset, PartitionEnds, StoredRecord } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Message } from '../../shared/contract/messages.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import {
  isRepeat,
  type Marks,
  moveMark,
  parseId,
  type ReadId,
} from '../../shared/runtime/derived-id.ts'
import { type Approval, expired } from './approval.ts'
import { type AskedRound, askedRound, takeIn } from './asked-round.ts'
import { approval as stage } from './reducer.ts'

/** `decidedAt`: the offset of the record that decided it; undefined: none did, or time. */
export type Entry = { partition: number; approval: Approval; decidedAt: Offset | undefined }

/** What a decision that came a day after the wait's end may still ask about. */
const lookBackMs: Milliseconds = 2 * limits.guardDeadlineMsMax + leadersApartMs

export type BookOptions = { bus: Pick<Bus, 'ends' | 'read' | 'clock'>; topicPrefix: string }

/** All calls that waited for a person lately, by when they were asked about. */
export async function readBook(options: BookOptions): Promise<Entry[]> {
  const topic = `${options.topicPrefix}approvals`
  const partitions = await options.bus.ends(topic).catch((error: unknown) => {
    if (error instanceof WeirError && error.code === 'bus.topic-missing') return [] // the log of a Weir that knew no approvals
    throw error
  })
  const pages = await Promise.all(partitions.map((ends) => readPage(options, ends)))
  return pages.flat().sort((a, b) => a.approval.request.askedAt - b.approval.request.askedAt)
}

/** Those of one partition, up to its end, or to where `ends` says. */
export async function readPage(
  { bus, topicPrefix }: BookOptions,
  { partition, begin, end }: PartitionEnds,
): Promise<Entry[]> {
  const whole = { topic: `${topicPrefix}approvals`, partition, from: begin, to: end }
  const from = await firstOffsetSince(bus, whole, bus.clock.now() - lookBackMs)
  const page = createPage(partition)
  for await (const records of batchesOf(bus, { ...whole, from }))
    for (const record of records) page.take(record)
  return page.entries()
}

/** `time`: of the newest of its records (keeps BOOK-2). */
type KnownRound = { round: AskedRound; decidedAt: Map<string, Offset>; time: Milliseconds }

function createPage(partition: number) {
  const rounds = new Map<string, KnownRound>()
  const marks: Marks = {}

  return {
    take(record: StoredRecord): void {
      const id = record.id === undefined ? undefined : parseId(record.id)
      if (id !== undefined && isRepeat(marks, id)) return
      const message = messageIn(record, id)
      if (message === undefined) return
      if (id !== undefined) moveMark(marks, id)
      const key = message.type === 'tick' ? message.unit : stage.unit(message)
      const known = rounds.get(key)
      if (message.type === 'approval-asked') {
        if (known === undefined)
          rounds.set(key, { round: askedRound(message), decidedAt: new Map(), time: record.time })
        else known.time = Math.max(known.time, record.time)
        return
      }
      if (known === undefined) return
      const time = Math.max(known.time, record.time)
      if (message.type === 'tick' && time < known.round.expiresAt) return // one that came too early moves nothing, also no time
      known.time = time
      for (const { kind, request } of takeIn(
        known.round,
        message.type === 'tick' ? undefined : message,
        time,
      ))
        if (kind !== 'expired') known.decidedAt.set(request.id, record.offset)
    },

    entries: (): Entry[] =>
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

/** Undefined: none of these records, or one by a writer that may not write it. */
function messageIn(
  { key, id: given, value }: StoredRecord,
  id: ReadId | undefined,
): Kept | undefined {
  if (value === null) return undefined
  try {
    const message = decode(value)
    switch (message.type) {
      case 'approval-asked':
      case 'approval-withdrawn':
        return id?.stage === 'executor' && message.conversation === key ? message : undefined
      case 'approval-answered':
      case 'tick':
        return given === undefined && message.conversation === key ? message : undefined
      default:
        return undefined
    }
  } catch {
    return undefined // the stage's to report
  }
}

/** Those that wait at this time. */
export function waitingIn(entries: readonly Entry[], now: Milliseconds): Entry[] {
  return entries.filter(({ approval }) => expired(approval, now).kind === 'pending')
}
