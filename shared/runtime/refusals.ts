// The refused records of an inbox: records that are no forgeries by their bytes, but by a fact that
// the inbox does not hold. Such a fact changes: a missing input exists a second later.
// REFUSALS-1. A record is judged once. The commit names the refused records from its "fold from" on,
//     so the next owner folds as this one did.
// REFUSALS-2. Bounded (R7): beyond `limits.refusedKeptMax` the oldest are forgotten. A fold that
//     needs a forgotten one judges it again.

import type { Offset, StoredRecord } from '../contract/bus.ts'
import { limits } from '../contract/limits.ts'
import type { WeirError } from '../lib/errors.ts'
import type { ReadId } from './derived-id.ts'

/** The error of the dead letter of a refused record, or undefined. `id`: of a derived record. */
export type Judge = (
  record: StoredRecord,
  id: Readonly<ReadId> | undefined,
) => WeirError | undefined

/** As a commit holds them. `forgottenTo`: refusals before this offset may be missing. */
export type Refused = { offsets: Offset[]; forgottenTo: Offset }

export type Refusals = {
  add(offset: Offset): void
  /** Undefined: forgotten. */
  has(offset: Offset): boolean | undefined
  /** Those at and after `from`. Undefined: none, and none is forgotten. */
  since(from: Offset): Refused | undefined
  /** No fold will begin before `from` any more. */
  forgetBefore(from: Offset): void
}

export function createRefusals(known: Refused = { offsets: [], forgottenTo: 0 }): Refusals {
  const offsets = new Set(known.offsets)
  let { forgottenTo } = known

  return {
    add(offset) {
      offsets.add(offset)
      if (offsets.size <= limits.refusedKeptMax) return
      const [oldest = offset] = offsets
      offsets.delete(oldest)
      forgottenTo = oldest + 1
    },
    has(offset) {
      if (offsets.has(offset)) return true
      return offset < forgottenTo ? undefined : false
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
}
