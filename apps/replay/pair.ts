// The outputs of one stage to one partition of a topic, from the log and from the fold, side by
// side.
// Both come in the order of their ids (R3), so the two heads decide. Equal ids are
// compared; a lower id in the log is unexpected, and a lower id from the fold is missing.
// A repeated record in the log is skipped, as readers skip it.
// Each side waits only while the other is behind. The waiting bytes are counted, so the
// reader can let the other side catch up.

import type { Offset, RecordToAppend, StoredRecord } from '../../shared/contract/bus.ts'
import type { ReadId } from '../../shared/runtime/derived-id.ts'

/** `input`: the record that led to it. */
export type Again = { record: RecordToAppend; n: number; input: StoredRecord }
type Logged = { record: StoredRecord; id: ReadId }

export type Found =
  | { kind: 'both'; logged: StoredRecord; again: Again }
  | { kind: 'missing'; again: Again }
  | { kind: 'added'; logged: StoredRecord; id: ReadId }

export type Pair = {
  /** The log has this record of the stage. */
  logged(record: StoredRecord, id: ReadId): void
  /** The fold writes this record, as the n-th output of its input. */
  again(again: Again): void
  /** The fold has applied all of its inbox before this offset. */
  foldedTo(offset: Offset): void
  /** The log is at its end. Returns the records of the fold that the log does not have. */
  rest(): Again[]
  /** Bytes that wait for the other side. */
  readonly waiting: { logged: number; again: number }
}

/** Calls `emit` for each record once, in the order of the ids. */
export function createPair(emit: (found: Found) => void): Pair {
  const log = queue<Logged>()
  const fold = queue<Again>()
  const waiting = { logged: 0, again: 0 }
  let newest: ReadId | undefined

  function settle(): void {
    for (;;) {
      const logged = log.head()
      const again = fold.head()
      if (logged === undefined || again === undefined) return
      const order = logged.id.offset - again.input.offset || logged.id.n - again.n
      if (order < 0) add()
      else if (order > 0) emit({ kind: 'missing', again: takeAgain(again) })
      else emit({ kind: 'both', logged: takeLogged(logged).record, again: takeAgain(again) })
    }
  }

  function add(): void {
    const logged = log.head()
    if (logged !== undefined)
      emit({ kind: 'added', logged: takeLogged(logged).record, id: logged.id })
  }

  function takeLogged(logged: Logged): Logged {
    log.shift()
    waiting.logged -= sizeOf(logged.record)
    return logged
  }

  function takeAgain(again: Again): Again {
    fold.shift()
    waiting.again -= sizeOf(again.record)
    return again
  }

  return {
    waiting,

    logged(record, id) {
      if (newest !== undefined && (id.offset - newest.offset || id.n - newest.n) <= 0) return
      newest = id
      log.push({ record, id })
      waiting.logged += sizeOf(record)
      settle()
    },

    again(again) {
      fold.push(again)
      waiting.again += sizeOf(again.record)
      settle()
    },

    foldedTo(offset) {
      for (
        let head = log.head();
        head !== undefined && head.id.offset < offset && fold.head() === undefined;
        head = log.head()
      )
        add()
    },

    rest: () => fold.all(),
  }
}

/** The bytes of a waiting record, with its overhead. */
function sizeOf({ value }: RecordToAppend): number {
  return (value?.length ?? 0) + 500
}

/** First in, first out. Removing the first element of an array would move all others. */
function queue<T>() {
  let items: T[] = []
  let first = 0
  return {
    head: (): T | undefined => items[first],
    push(item: T): void {
      items.push(item)
    },
    shift(): void {
      first += 1
      if (first === items.length) {
        items = []
        first = 0
      } else if (first > 1024 && first * 2 > items.length) {
        items = items.slice(first)
        first = 0
      }
    },
    all: (): T[] => items.slice(first),
  }
}
