// Folds one inbox several times at once: unchanged, and with each change. A record is decoded once.
// All folds begin alike and read the same records, so only the change causes a
// different decision.

import type { AnyStage } from '../../../services/reducers.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { foldOfLog } from '../../../shared/runtime/log/log-fold.ts'
import type { ReadLog, TopicRange } from '../log-range.ts'

export type Variants = {
  /** The outputs of the stage for this record: first without a change, then for each overlay. */
  take(record: StoredRecord): Promise<Message[][]>
}

export function createVariants(
  log: ReadLog,
  { partition }: TopicRange,
  stage: AnyStage,
  changes: readonly ((message: Message) => Message)[],
): Variants {
  let bytes: Uint8Array | undefined
  let message: Message | undefined

  function read(value: Uint8Array): Message {
    if (value !== bytes || message === undefined) {
      message = decode(value)
      bytes = value
    }
    return message
  }

  const folds = Promise.all(
    [(same: Message) => same, ...changes].map((change) =>
      foldOfLog(log, stage, partition, {
        // A copy, because a reducer may keep its input, and the others must not see later changes to
        // it.
        encode: undefined,
        decode: (value) => change({ ...read(value) }),
      }),
    ),
  )
  folds.catch(() => {}) // `take` gives the error

  return {
    async take(record) {
      const written: Message[][] = []
      for (const fold of await folds) {
        const taking = fold.apply(record)
        const { outputs } = taking instanceof Promise ? await taking : taking
        written.push(outputs.map((output) => output.message))
      }
      return written
    },
  }
}
