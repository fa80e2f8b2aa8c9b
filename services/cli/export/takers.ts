// What becomes of the records that are exported: into the bundle as they are, or with what rules name replaced.

import type { BundleWriter } from '../../../shared/bus/bundle/writer.ts'
import type { StoredRecord } from '../../../shared/bus/port.ts'
import { encode } from '../../../shared/codec.ts'
import type { Part } from '../../../shared/messages.ts'
import { messageOf } from '../message-of.ts'
import type { Taker } from './copy.ts'
import type { Redaction } from './redaction.ts'
import type { TurnTally } from './turn-tally.ts'

/** As they are. */
export function plainTaker(bundle: BundleWriter, tally: TurnTally): Taker {
  return {
    topic: (name, kind) => bundle.topic(name, kind),
    take(topic, record, message) {
      bundle.add(record)
      if (message !== undefined) tally.see(topic, record, message)
    },
  }
}

/** The first pass of a redaction. */
export function learningTaker(redaction: Redaction): Taker {
  return {
    topic() {},
    take(_, { value }, message = messageOf(value)) {
      if (message !== undefined) redaction.learn(message)
    },
  }
}

/** A round whose parts are held until all are there: as many bytes as a round may have parts. */
type Held = { record: StoredRecord; part: Part }[]

/** `finish`: when all are taken. `leftOut`: records that could not be read. */
export type RedactingTaker = Taker & { finish(): void; readonly leftOut: number }

export function redactingTaker(bundle: BundleWriter, tally: TurnTally, redaction: Redaction): RedactingTaker {
  const held = new Map<string, Held>()
  let leftOut = 0

  function release(round: string): void {
    const waiting = held.get(round) ?? []
    held.delete(round)
    const parts = redaction.redactParts(waiting.map(({ part }) => part))
    for (const [at, { record }] of waiting.entries()) bundle.add({ ...record, value: encode(parts[at] as Part) })
  }

  return {
    get leftOut() {
      return leftOut
    },
    topic: (name, kind) => bundle.topic(name, kind),
    take(topic, record, known) {
      const message = known ?? messageOf(record.value)
      if (message === undefined && record.value === null) {
        bundle.add(record)
        return
      }
      if (message?.type === 'part') {
        const round = roundOf(message)
        const waiting = held.get(round) ?? []
        waiting.push({ record, part: message })
        held.set(round, waiting)
        return
      }
      if (message?.type === 'model-finished') release(roundOf(message))
      const redacted = message && redaction.redact(message)
      if (redacted === undefined) {
        leftOut += 1
        return
      }
      bundle.add({ ...record, value: encode(redacted) })
      if (known !== undefined) tally.see(topic, record, redacted)
    },
    finish() {
      for (const round of [...held.keys()]) release(round)
    },
  }
}

function roundOf({ conversation, turn, round }: { conversation: string; turn: number; round: number }): string {
  return JSON.stringify([conversation, turn, round])
}
