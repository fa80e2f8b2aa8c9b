// What waits for a person and what was decided, as it stands in the log: for whoever lists, and for whoever decides and wants to know what counted.
// It folds the inbox of the stage with the stage's own functions, so it knows the same without asking it; also beside a stage that does not run.
// K1. Bounded: it begins where the oldest call that may still wait was asked about, or was decided long enough ago that nobody will ask.

import type { Bus, Offset, PartitionEnds, StoredRecord } from '../../shared/bus/port.ts'
import { batchesOf, firstOffsetSince, leadersApartMs } from '../../shared/bus/range.ts'
import type { Milliseconds } from '../../shared/clock.ts'
import { decode } from '../../shared/codec.ts'
import { WeirError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { Message } from '../../shared/messages.ts'
import { parseId } from '../../shared/runtime/derived-id.ts'
import type { Approval } from './approval.ts'
import { expired } from './approval.ts'
import type { AskedRound } from './asked-round.ts'
import { askedRound, takeIn } from './asked-round.ts'

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
export async function readPage({ bus, topicPrefix }: BookOptions, { partition, begin, end }: PartitionEnds): Promise<Entry[]> {
  const whole = { topic: `${topicPrefix}approvals`, partition, from: begin, to: end }
  const from = await firstOffsetSince(bus, whole, bus.clock.now() - lookBackMs)
  const page = createPage(partition)
  for await (const records of batchesOf(bus, { ...whole, from })) for (const record of records) page.take(record)
  return page.entries()
}

function createPage(partition: number) {
  const rounds = new Map<string, { round: AskedRound; decidedAt: Map<string, Offset> }>()

  return {
    take(record: StoredRecord): void {
      const message = messageIn(record)
      if (message === undefined) return
      const key = JSON.stringify([message.conversation, message.turn, message.round])
      const known = rounds.get(key)
      if (message.type === 'approval-asked') {
        if (known === undefined) rounds.set(key, { round: askedRound(message), decidedAt: new Map() })
        return
      }
      if (known === undefined) return
      for (const { kind, request } of takeIn(known.round, message, record.time))
        if (kind !== 'expired') known.decidedAt.set(request.id, record.offset)
    },

    entries: (): Entry[] =>
      [...rounds.values()].flatMap(({ round, decidedAt }) =>
        round.approvals.map((approval) => ({ partition, approval, decidedAt: decidedAt.get(approval.request.id) })),
      ),
  }
}

/** Undefined: none of these records, or one by a writer that may not write it. */
function messageIn({
  key,
  id,
  value,
}: StoredRecord): Extract<Message, { type: `approval-${'asked' | 'answered' | 'withdrawn'}` }> | undefined {
  if (value === null) return undefined
  try {
    const message = decode(value)
    const writer = id === undefined ? undefined : parseId(id)?.stage
    switch (message.type) {
      case 'approval-asked':
      case 'approval-withdrawn':
        return writer === 'executor' && message.conversation === key ? message : undefined
      case 'approval-answered':
        return id === undefined && message.conversation === key ? message : undefined
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
