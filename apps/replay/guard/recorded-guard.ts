// The verdicts of an external guard as its topic holds them. A replay cannot judge its rounds again:
// the service may decide otherwise today, and each call may cost money.
// A replay never calls an external guard. A round without a recorded verdict has
// none, and the result states the number of such rounds.

import { endsOf } from '../../../client/history/readable-log.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Offset } from '../../../shared/contract/bus.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { parseAnswerId } from '../../../shared/runtime/guards/guard-partition.ts'
import { guardedRoundOf } from '../../../shared/runtime/guards/guarded-round.ts'
import type { ReadLog } from '../log-range.ts'
import { type AnsweredRound, type Judged, type LoadedGuard, verdictsIn } from './guard-answer.ts'
import type { GuardProcess } from './guard-process.ts'

/** Throws `guard.invalid` if the log has no verdict of this guard. */
export async function recordedGuard(guard: LoadedGuard, log: ReadLog): Promise<GuardProcess> {
  const topic = guardTopicName(guard.name)
  const ends = await endsOf(log, topic)
  if (ends.every(({ begin, end }) => begin === end))
    throw new WeirError(
      'guard.invalid',
      `the guard ${guard.name} is external, so a replay reads its recorded verdicts, and the log has none. Run it as a shadow first: weir guard run FILE --mode shadow`,
    )
  /** By partition, then by the offset of the judged round. The first answer counts. */
  const recorded = new Map<number, Map<Offset, Uint8Array>>()
  let unrecorded = 0

  async function answersOf(partition: number): Promise<Map<Offset, Uint8Array>> {
    const known = recorded.get(partition)
    if (known !== undefined) return known
    const answers = new Map<Offset, Uint8Array>()
    const range = ends.find((one) => one.partition === partition)
    if (range !== undefined)
      for await (const records of batchesOf(log.bus, {
        topic: log.topicPrefix + topic,
        partition,
        from: range.begin,
        to: range.end,
      }))
        for (const { id, value } of records) {
          const place = id === undefined ? undefined : parseAnswerId(id)
          if (place?.guard !== guard.name || place.partition !== partition || value === null)
            continue
          if (!answers.has(place.offset)) answers.set(place.offset, value)
        }
    recorded.set(partition, answers)
    return answers
  }

  return {
    guard,
    async judge(partition, records) {
      const answers = await answersOf(partition)
      const judged: Judged[] = []
      for (const record of records) {
        const message = messageOf(record.value)
        if (message?.type !== 'round-cleared') continue
        if (guardedRoundOf(message, guard.name, record.time) === undefined) continue
        const verdict = answers.get(record.offset)
        const answer: AnsweredRound[] =
          verdict === undefined ? [] : [{ offset: record.offset, verdict }]
        const valid = verdictsIn(answer, [record]) ?? []
        if (valid.length === 0) unrecorded += 1
        judged.push(...valid)
      }
      return judged
    },
    unrecorded: () => unrecorded,
    close() {},
  }
}
