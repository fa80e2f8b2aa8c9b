// What becomes of the records that are exported: into the bundle as they are, or with what rules
// name replaced.

import type { BundleWriter } from '../../../shared/bus/bundle/writer.ts'
import { encode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Part } from '../../../shared/contract/messages.ts'
import { messageOf } from '../../history/message-of.ts'
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

/** `finish`: when all are taken. */
export type LearningTaker = Taker & { finish(): void }

/** The first pass of a redaction. */
export function learningTaker(redaction: Redaction): LearningTaker {
  const held = holdRounds<Part>((parts) => redaction.learnParts(parts))
  return {
    topic() {},
    take(_, { value }, message = messageOf(value)) {
      if (message?.type === 'part') held.part(message, message)
      else if (message !== undefined) redaction.learn(message)
      if (message?.type === 'model-finished') held.release(message)
    },
    finish: held.releaseAll,
  }
}

/** `leftOut`: records that could not be read, and parts that nobody waited for any more. */
export type RedactingTaker = LearningTaker & { readonly leftOut: number }

export function redactingTaker(
  bundle: BundleWriter,
  tally: TurnTally,
  redaction: Redaction,
): RedactingTaker {
  let leftOut = 0
  const held = holdRounds<{ record: StoredRecord; part: Part }>((waiting) => {
    const parts = redaction.redactParts(waiting.map(({ part }) => part))
    for (const [at, { record }] of waiting.entries())
      bundle.add({ ...record, value: encode(parts[at] as Part) })
  })

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
        if (!held.part(message, { record, part: message })) leftOut += 1
        return
      }
      if (message?.type === 'model-finished') held.release(message)
      const redacted = message && redaction.redact(message)
      if (redacted === undefined) {
        leftOut += 1
        return
      }
      bundle.add({ ...record, value: encode(redacted) })
      if (known !== undefined) tally.see(topic, record, redacted)
    },
    finish: held.releaseAll,
  }
}

type Place = { conversation: string; turn: number; round: number }

/**
 * Parts of a round are held until all are there, which are as many bytes as a round may have: a
 * secret may be cut anywhere between two of them. So what comes behind its model-finished, of an
 * attempt that did not count, is not taken: `part` gives false.
 */
function holdRounds<Held>(take: (held: Held[]) => void) {
  const rounds = new Map<string, Held[]>()
  const released = new Set<string>()

  function release(round: string): void {
    const held = rounds.get(round)
    rounds.delete(round)
    if (held !== undefined) take(held)
  }

  return {
    part(place: Place, one: Held): boolean {
      const round = roundOf(place)
      if (released.has(round)) return false
      const held = rounds.get(round) ?? []
      held.push(one)
      rounds.set(round, held)
      return true
    },
    release(place: Place): void {
      released.add(roundOf(place))
      release(roundOf(place))
    },
    releaseAll(): void {
      for (const round of [...rounds.keys()]) release(round)
    },
  }
}

function roundOf({ conversation, turn, round }: Place): string {
  return JSON.stringify([conversation, turn, round])
}
