// The refused records of a log that is read again. A log does not hold the facts by which a stage
// refused a record (refusals.ts), but it holds the stage's dead letter. So a replay decides as the
// stage did, also in a bundle without the other inboxes.

import { batchesOf, noneIfMissing } from '../../bus/range.ts'
import { messageOf } from '../../codec/message-of.ts'
import type { Bus, Offset } from '../../contract/bus.ts'
import type { DeadLetter } from '../../contract/messages.ts'
import { type StageName, stages } from '../../contract/topology.ts'
import { type ErrorCode, WeirError } from '../../lib/errors.ts'
import { parseId } from '../derived-id.ts'
import type { Judge } from './refusals.ts'

/** The codes of refusals (Judge). All other dead letters follow from the bytes of their record. */
const codes: ReadonlySet<string> = new Set<ErrorCode>(['record.forged-id', 'record.unsigned'])

/** The judge of each stage, from the dead letters of this partition. */
export async function refusedInLog(
  { bus, topicPrefix }: { bus: Pick<Bus, 'ends' | 'read'>; topicPrefix: string },
  partition: number,
): Promise<(stage: StageName) => Judge | undefined> {
  const topic = `${topicPrefix}dead-letters`
  const refused = new Map<string, Map<Offset, WeirError>>()
  const end = await endOf(bus, topic, partition)
  for await (const records of batchesOf(bus, { topic, partition, from: 0, to: end }))
    for (const { value, id } of records) {
      const letter = value === null ? undefined : letterIn(value)
      const writer = parseId(id)
      // Only the stage itself writes its letter under the id of the refused record.
      if (letter === undefined || writer?.offset !== letter.offset) continue
      if (writer.stage !== letter.stage || writer.partition !== partition) continue
      const ofStage = refused.get(letter.stage) ?? new Map<Offset, WeirError>()
      refused.set(letter.stage, ofStage)
      ofStage.set(letter.offset, new WeirError(letter.code as ErrorCode, letter.reason))
    }
  return (stage) => {
    const ofStage = refused.get(stage)
    const inbox = topicPrefix + stages[stage].inbox
    return ofStage && (({ topic, offset }) => (topic === inbox ? ofStage.get(offset) : undefined))
  }
}

/** 0: a log from before dead letters, or a bundle without them. */
async function endOf(bus: Pick<Bus, 'ends'>, topic: string, partition: number): Promise<Offset> {
  const ends = await bus.ends(topic).catch(noneIfMissing)
  return ends.find((one) => one.partition === partition)?.end ?? 0
}

function letterIn(value: Uint8Array): DeadLetter | undefined {
  const message = messageOf(value)
  return message?.type === 'dead-letter' && codes.has(message.code) ? message : undefined
}
