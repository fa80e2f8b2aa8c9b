// Judges the ids of derived records: an id counts only if its input exists. Owns: the known ends of
// the writers' inboxes. Without this check one record with a huge offset would move a mark, and all
// genuine records of that writer would be dropped as repeats.
// An id names the record's own partition and an offset before the end of
// its stage's inbox. Where a signature proves the writer, the end is not looked up.
// The end is looked up after the record was read. A genuine record's input is older
// than the record, so it is there.
// An id up to `inputsAheadMax` beyond the last known end counts, and its record
// waits for no look-up. So one forged id can hide that many records, and no more.

import type { Logger } from 'pino'
import type { Bus, Offset, StoredRecord } from '../../contract/bus.ts'
import { type StageName, stages } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import { parseId, type ReadId } from '../derived-id.ts'

/** Records of an inbox that a reader of its outputs supposes beyond the last known end. */
export const inputsAheadMax = 64
/** The wait before the ends of inboxes are requested again, after a broker could not answer. */
const endsRetryMs = 1_000

export type InputEnds = {
  /**
   * Looks up the ends that these records need. Undefined: no record waits for one. Tries again for as
   * long as a retry can help; `closed`: until close() was called.
   */
  lookUp(records: readonly StoredRecord[]): Promise<'known' | 'closed'> | undefined
  /** Call it after `lookUp` of the record. */
  refusalOf(id: Readonly<ReadId>): WeirError | undefined
  close(): void
}

export function createInputEnds({
  bus,
  topicPrefix,
  topic,
  partition,
  log,
}: {
  bus: Pick<Bus, 'ends' | 'end' | 'endAhead' | 'endSeen' | 'provesWriters' | 'clock'>
  topicPrefix: string
  /** The topic of the records, with its prefix. */
  topic: string
  partition: number
  log: Logger
}): InputEnds {
  const isProven = bus.provesWriters?.(topic) === true
  const ends = new Map<string, Offset>()
  /** Stages whose ends were looked up for the newest records, which are judged exactly. */
  let exact = noStages
  let isRefreshing = false
  let isClosed = false
  let wake = (): void => {}

  return {
    lookUp(records) {
      if (isProven) return undefined
      exact = noStages
      const missing = new Set<StageName>()
      const soonMissing = new Set<StageName>()
      for (const { id: text } of records) {
        const id = parseId(text)
        if (id === undefined || id.partition !== partition || isKnown(id)) continue
        if (!isStage(id.stage) || wasSeen(id, id.stage)) continue
        if (!isAllowed(id)) missing.add(id.stage)
        else if (aheadOf(id) >= inputsAheadMax / 2) soonMissing.add(id.stage)
      }
      exact = missing
      if (missing.size === 0) return refresh(soonMissing)
      const { endAhead } = bus
      if (endAhead === undefined) return fetchUntilKnown([...missing])
      for (const stage of missing) ends.set(stage, endAhead({ topic: inboxOf(stage), partition }))
      return undefined
    },

    refusalOf(id) {
      if (id.partition !== partition)
        return forged(id, `its partition is not ${partition}, and outputs keep their partition`)
      // Admission refuses unknown stages.
      if (isProven || !isStage(id.stage) || isAllowed(id)) return undefined
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

  function aheadOf({ stage, offset }: ReadId): number {
    return offset - (ends.get(stage) ?? 0)
  }

  /** Without any known end, and where an end costs no request, nothing is ahead. */
  function isAllowed(id: ReadId): boolean {
    const isKnownWell = bus.endAhead !== undefined || exact.has(id.stage) || !ends.get(id.stage)
    return aheadOf(id) < (isKnownWell ? 0 : inputsAheadMax)
  }

  /** Nobody waits for it. If it fails, a later record asks again, and waits. */
  function refresh(soonMissing: ReadonlySet<StageName>): undefined {
    if (isRefreshing || soonMissing.size === 0) return
    isRefreshing = true
    fetchEnds([...soonMissing])
      .catch(() => {})
      .finally(() => {
        isRefreshing = false
      })
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
        bus.clock.after(endsRetryMs, resolve)
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

const noStages: ReadonlySet<string> = new Set()

function isStage(name: string): name is StageName {
  return Object.hasOwn(stages, name)
}

/** Without the end that was found: the same record gives the same dead letter. */
function forged({ stage, partition, offset, n }: ReadId, why: string): WeirError {
  return new WeirError(
    'record.forged-id',
    `the id ${stage}/${partition}/${offset}/${n} names no input: ${why}. A program other than that stage wrote this record`,
  )
}
