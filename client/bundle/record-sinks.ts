// Sinks for the copied records: one writes them to the bundle unchanged, one learns the values that
// the redaction rules match, and one writes redacted records.

import type { BundleWriter } from '../../shared/bus/bundle/writer.ts'
import { encode } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import { type RoundId, roundKey } from '../../shared/contract/ids.ts'
import type { Part } from '../../shared/contract/messages.ts'
import type { Redaction } from '../../shared/runtime/redaction/redaction.ts'
import type { RecordSink } from './copy.ts'
import type { TurnTally } from './turn-tally.ts'

/** Writes records unchanged. */
export function plainSink(bundle: BundleWriter, tally: TurnTally): RecordSink {
  return {
    topic: (name, kind) => bundle.topic(name, kind),
    add(topic, record, message) {
      bundle.add(record)
      if (message !== undefined) tally.add(topic, record, message)
    },
  }
}

/** Call `finish` after the last record. */
export type LearningSink = RecordSink & { finish(): void }

/** The first pass of a redaction. */
export function learningSink(redaction: Redaction): LearningSink {
  const held = holdRounds<Part>((parts) => redaction.learnParts(parts))
  return {
    topic() {},
    add(_, { value }, message = messageOf(value)) {
      if (message?.type === 'part') held.part(message, message)
      else if (message !== undefined) redaction.learn(message)
      if (message?.type === 'model-finished') held.release(message)
    },
    finish: held.releaseAll,
  }
}

/** `leftOut`: the number of unreadable records, late parts, and pieces of images and files. */
export type RedactingSink = LearningSink & { readonly leftOut: number }

export function redactingSink(
  bundle: BundleWriter,
  tally: TurnTally,
  redaction: Redaction,
): RedactingSink {
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
    add(topic, record, known) {
      const message = known ?? messageOf(record.value)
      if (message === undefined && record.value === null) {
        bundle.add(record)
        return
      }
      // No rule can find a value in a picture.
      if (message?.type === 'content-kept' || message?.type === 'content-sent') {
        leftOut += 1
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
      if (known !== undefined) tally.add(topic, record, redacted)
    },
    finish: held.releaseAll,
  }
}

/**
 * Holds the parts of a round until its model-finished, because a secret can be split between two
 * parts. A later part belongs to an attempt that did not count: `part` refuses it. Memory: the
 * largest response of each open round.
 */
function holdRounds<Held>(add: (held: Held[]) => void) {
  const rounds = new Map<string, Held[]>()
  const released = new Set<string>()

  function release(round: string): void {
    const held = rounds.get(round)
    rounds.delete(round)
    if (held !== undefined) add(held)
  }

  return {
    part(id: RoundId, one: Held): boolean {
      const round = roundKey(id)
      if (released.has(round)) return false
      const held = rounds.get(round) ?? []
      held.push(one)
      rounds.set(round, held)
      return true
    },
    release(id: RoundId): void {
      released.add(roundKey(id))
      release(roundKey(id))
    },
    releaseAll(): void {
      for (const round of [...rounds.keys()]) release(round)
    },
  }
}
