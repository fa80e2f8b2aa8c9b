// The refused records of an inbox: records that are no forgeries by their bytes, but by a fact that
// the inbox does not hold. Such a fact changes: a missing input exists a second later.
// A record is judged once. The commit names the refused records from its "fold from" on,
// so the next owner folds as this one did.
// Bounded (R7): beyond `refusedKeptMax` the oldest are forgotten. A fold that
// needs a forgotten one judges it again.

import type { Offset, StoredRecord } from '../../contract/bus.ts'
import { WeirError } from '../../lib/errors.ts'
import type { ReadId } from '../derived-id.ts'

/** Refused records that a commit names. Kafka's brokers bound its bytes. */
export const refusedKeptMax = 128

/** The error of the dead letter of a refused record, or undefined. `id`: of a derived record. */
export type Judge = (
  record: StoredRecord,
  id: Readonly<ReadId> | undefined,
) => WeirError | undefined

/** As a commit holds them. `forgottenTo`: refusals before this offset may be missing. */
export type Refused = { offsets: Offset[]; forgottenTo: Offset }

export type Refusals = {
  /** The error of a refused record. `id`: as for `judge`. */
  refusalOf(record: StoredRecord, id: Readonly<ReadId> | undefined): WeirError | undefined
  /** Those at and after `from`. Undefined: none, and none is forgotten. */
  since(from: Offset): Refused | undefined
  /** No fold will begin before `from` any more. */
  forgetBefore(from: Offset): void
}

/** Records before `to` are judged already, and `refused` names the refused ones. */
export type Judged = { to: Offset; refused: Refused | undefined }

/** `judge`: default: no record is refused. */
export function createRefusals({
  judge,
  judged = { to: 0, refused: undefined },
}: {
  judge?: Judge | undefined
  judged?: Judged | undefined
}): Refusals {
  const offsets = new Set(judged.refused?.offsets)
  let forgottenTo = judged.refused?.forgottenTo ?? 0

  return {
    refusalOf(record, id) {
      if (judge === undefined) return undefined
      const { offset } = record
      const isJudged = offset < judged.to
      if (isJudged && offset >= forgottenTo && !offsets.has(offset)) return undefined
      const refusal = judge(record, id)
      if (isJudged && offsets.has(offset)) return refusal ?? refusedBefore
      if (refusal !== undefined) add(offset)
      return refusal
    },
    since(from) {
      if (offsets.size === 0 && forgottenTo <= from) return undefined
      return { offsets: [...offsets].filter((offset) => offset >= from), forgottenTo }
    },
    forgetBefore(from) {
      for (const offset of offsets) {
        if (offset >= from) return
        offsets.delete(offset)
      }
    },
  }

  function add(offset: Offset): void {
    offsets.add(offset)
    if (offsets.size <= refusedKeptMax) return
    const [oldest = offset] = offsets
    offsets.delete(oldest)
    forgottenTo = oldest + 1
  }
}

/** Its dead letter is in the log already. */
const refusedBefore = new WeirError('record.forged-id', 'it was refused when it was first read')
