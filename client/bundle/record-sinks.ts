// Sinks for the copied records: one writes them to the bundle unchanged, one learns the values that
// the redaction rules match, and one writes redacted records.
// The end of an attempt carries its last parts, whose own records may come later or never.
// They are redacted with the other parts as one text, and stay in the end only.

import type { BundleWriter } from '../../shared/bus/bundle/writer.ts'
import { encode } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import { type AttemptId, type RoundId, roundIdOf, roundKey } from '../../shared/contract/ids.ts'
import type { Message, ModelFinished, Part, PartEvent } from '../../shared/contract/messages.ts'
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
  const held = holdRounds<Part>((parts, end) =>
    redaction.learnParts([...parts, ...carriedParts(end, parts)]),
  )
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
  /** The redacted parts that the ends of attempts carry. */
  const carried = new Map<string, PartEvent[][]>()
  const held = holdRounds<{ record: StoredRecord; part: Part }>((waiting, end) => {
    const own = waiting.map(({ part }) => part)
    const parts = redaction.redactParts([...own, ...carriedParts(end, own)])
    for (const [at, { record }] of waiting.entries())
      bundle.add({ ...record, value: encode(parts[at] as Part) })
    if (end === undefined || end.rest.length === 0) return
    const first = end.parts - end.rest.length
    const last = parts.filter(({ attempt, i }) => attempt === end.attempt && i >= first)
    carried.set(
      attemptKey(end),
      last.sort((one, other) => one.i - other.i).map(({ events }) => events),
    )
  })

  function withCarried(message: Message | undefined): Message | undefined {
    if (message === undefined || !('rest' in message)) return message
    return { ...message, rest: carried.get(attemptKey(message)) ?? [] }
  }

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
      const redacted = withCarried(message && redaction.redact(message))
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
function holdRounds<Held>(add: (held: Held[], end: ModelFinished | undefined) => void) {
  const rounds = new Map<string, Held[]>()
  const released = new Set<string>()

  function release(round: string, end?: ModelFinished): void {
    const held = rounds.get(round) ?? []
    rounds.delete(round)
    add(held, end)
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
    release(end: ModelFinished): void {
      released.add(roundKey(end))
      release(roundKey(end), end)
    },
    releaseAll(): void {
      for (const round of [...rounds.keys()]) release(round)
    },
  }
}

/** The parts in an end that have no record among `parts`. */
function carriedParts(end: ModelFinished | undefined, parts: readonly Part[]): Part[] {
  if (end === undefined) return []
  const id = { ...roundIdOf(end), attempt: end.attempt }
  const there = new Set(parts.flatMap(({ attempt, i }) => (attempt === id.attempt ? [i] : [])))
  const first = end.parts - end.rest.length
  return end.rest
    .map((events, n) => ({ type: 'part' as const, ...id, i: first + n, events }))
    .filter(({ i }) => !there.has(i))
}

function attemptKey(id: AttemptId): string {
  return JSON.stringify([roundKey(id), id.attempt])
}
