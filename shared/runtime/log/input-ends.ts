// Judges the ids of derived records: an id counts only if its input exists. Owns: the known ends of
// the writers' inboxes. Without this check one record with a huge offset would move a mark, and all
// genuine records of that writer would be dropped as repeats.
// INPUT-ENDS-1. An id names the record's own partition (TOPOLOGY-3) and an offset before the end of
//     its stage's inbox. A reader looks the end up once and again when an id is beyond it.
// INPUT-ENDS-2. The end is looked up after the record was read. A genuine record's input is older
//     than the record, so it is there.

import type { Logger } from 'pino'
import type { Bus, Offset, StoredRecord } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import { type StageName, stages } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import { parseId, type ReadId } from '../derived-id.ts'

export type InputEnds = {
  /**
   * Looks up the ends that these records need. Undefined: all are known. Tries again for as long as
   * a retry can help; `closed`: until close() was called.
   */
  lookUp(records: readonly StoredRecord[]): Promise<'known' | 'closed'> | undefined
  /** Call it after `lookUp` of the record. */
  refusalOf(id: Readonly<ReadId>): WeirError | undefined
  close(): void
}

export function createInputEnds({
  bus,
  topicPrefix,
  partition,
  log,
}: {
  bus: Pick<Bus, 'ends' | 'end' | 'endAhead' | 'endSeen' | 'clock'>
  topicPrefix: string
  partition: number
  log: Logger
}): InputEnds {
  const ends = new Map<string, Offset>()
  let isClosed = false
  let wake = (): void => {}

  return {
    lookUp(records) {
      const missing = new Set<StageName>()
      for (const { id: text } of records) {
        const id = parseId(text)
        if (id === undefined || id.partition !== partition || isKnown(id)) continue
        if (isStage(id.stage) && !wasSeen(id, id.stage)) missing.add(id.stage)
      }
      if (missing.size === 0) return undefined
      const { endAhead } = bus
      if (endAhead === undefined) return fetchUntilKnown([...missing])
      for (const stage of missing) ends.set(stage, endAhead({ topic: inboxOf(stage), partition }))
      return undefined
    },

    refusalOf(id) {
      if (id.partition !== partition)
        return forged(id, `its partition is not ${partition}, and outputs keep their partition`)
      if (!isStage(id.stage) || isKnown(id)) return undefined // admission refuses unknown stages
      return forged(id, `${inboxOf(id.stage)} had no such record`)
    },

    close() {
      isClosed = true
      wake()
    },
  }

  function isKnown({ stage, offset }: ReadId): boolean {
    return offset < (ends.get(stage) ?? 0)
  }

  /** This process read or wrote the input, or a later record of that inbox. */
  function wasSeen(id: ReadId, stage: StageName): boolean {
    const seen = bus.endSeen?.({ topic: inboxOf(stage), partition }) ?? 0
    ends.set(stage, Math.max(seen, ends.get(stage) ?? 0))
    return isKnown(id)
  }

  async function fetchUntilKnown(missing: StageName[]): Promise<'known' | 'closed'> {
    while (!isClosed) {
      try {
        await fetchEnds(missing)
        return 'known'
      } catch (error) {
        if (isClosed) break
        if (!(error instanceof WeirError && error.retryable)) throw error
        log.warn({ err: error, partition }, 'the ends of inboxes could not be read; retrying')
      }
      await new Promise<void>((resolve) => {
        wake = resolve
        bus.clock.after(limits.endsRetryMs, resolve)
      })
    }
    return 'closed'
  }

  async function fetchEnds(missing: StageName[]): Promise<void> {
    const found = await Promise.all(missing.map((stage) => endOf(inboxOf(stage))))
    for (const [at, stage] of missing.entries())
      ends.set(stage, Math.max(found[at] ?? 0, ends.get(stage) ?? 0))
  }

  async function endOf(topic: string): Promise<Offset> {
    if (bus.end !== undefined) return bus.end({ topic, partition })
    const found = await bus.ends(topic, [partition])
    return found.find((one) => one.partition === partition)?.end ?? 0
  }

  function inboxOf(stage: StageName): string {
    return topicPrefix + stages[stage].inbox
  }
}

function isStage(name: string): name is StageName {
  return Object.hasOwn(stages, name)
}

/** Without the end that was found: the same record gives the same dead letter (DERIVED-ID-1). */
function forged({ stage, partition, offset, n }: ReadId, why: string): WeirError {
  return new WeirError(
    'record.forged-id',
    `the id ${stage}/${partition}/${offset}/${n} names no input: ${why}. A program other than that stage wrote this record`,
  )
}
