// Buses that break a promise to the runtime. The checkers must catch the real stages on them.

import { decode } from '../../../shared/codec/codec.ts'
import type {
  Bus,
  Commit,
  PartitionReader,
  RecordToAppend,
  StoredRecord,
} from '../../../shared/contract/bus.ts'
import { realSystem, type System } from '../system.ts'

/** The real system, on a bus with wrapped readers. */
function withReaders(name: string, wrap: (reader: PartitionReader) => PartitionReader): System {
  const bus = (real: Bus): Bus => ({
    ...real,
    subscribe: (options) =>
      real.subscribe({
        ...options,
        assign: async (assignment) => wrap(await options.assign(assignment)),
      }),
  })
  return { ...realSystem, name, bus }
}

/** Breaks R3: each repeat of a record gets a new id, so a reader applies it again. */
export const noMarks = withReaders('repeats are applied again', (reader) => ({
  ...reader,
  position: reader.position,
  read: (records) => reader.read(records.map(withNewId)),
}))

function withNewId(record: StoredRecord): StoredRecord {
  const [stage, partition] = (record.id ?? '').split('/')
  return record.id === undefined || partition === undefined
    ? record
    : { ...record, id: `${stage}/${partition}/${record.offset}/0` }
}

/** Breaks R1: commits a step before its outputs are written. */
export const commitFirst = withReaders('the commit goes before the outputs', (reader) => {
  let held: RecordToAppend[] = []
  return {
    ...reader,
    position: reader.position,
    async read(records) {
      const { outputs, commit } = await reader.read(records)
      const before = held
      held = outputs
      return { outputs: before, commit }
    },
  }
})

/**
 * Restores the newest marks instead of those at "fold from", which drops the open units' own
 * records as repeats.
 */
export const newestMarks = withReaders('the commit holds the newest marks', (reader) => {
  const marks: Record<string, [number, number]> = {}
  return {
    ...reader,
    position: reader.position,
    async read(records) {
      for (const { id } of records) {
        const [stage, partition, offset, n] = (id ?? '').split('/')
        const writer = `${stage}/${partition}`
        const known = marks[writer]
        if (
          n === undefined ||
          (known !== undefined &&
            (known[0] > Number(offset) || (known[0] === Number(offset) && known[1] >= Number(n))))
        )
          continue
        marks[writer] = [Number(offset), Number(n)]
      }
      const { outputs, commit } = await reader.read(records)
      return { outputs, commit: commit && withMarks(commit, marks) }
    },
  }
})

function withMarks(commit: Commit, marks: object): Commit {
  const { from } = JSON.parse(commit.metadata) as { from: number }
  return { offset: commit.offset, metadata: JSON.stringify({ from, marks }) }
}

/** Breaks R3: writes outputs in another order than their inputs. */
export const reversesOutputs = withReaders('outputs are written backwards', (reader) => ({
  ...reader,
  position: reader.position,
  async read(records) {
    const { outputs, commit } = await reader.read(records)
    return { outputs: outputs.toReversed(), commit }
  },
}))

/** Breaks R3: skips a failed send. */
export const skipsFailedSends = withReaders('an output is skipped now and then', (reader) => {
  let count = 0
  return {
    ...reader,
    position: reader.position,
    async read(records) {
      const { outputs, commit } = await reader.read(records)
      return { outputs: outputs.filter(() => ++count % 20 !== 0), commit }
    },
  }
})

/** Breaks R8: skips records that cannot be decoded. */
export const skipsInvalid = withReaders(
  'invalid records are dropped without a dead letter',
  (reader) => ({
    ...reader,
    position: reader.position,
    async read(records) {
      const readable = records.filter(isReadable)
      return readable.length === 0 ? { outputs: [], commit: undefined } : reader.read(readable)
    },
  }),
)

function isReadable({ value }: StoredRecord): boolean {
  try {
    return value !== null && decode(value) !== undefined
  } catch {
    return false
  }
}

/** A stage that stops after some records. */
export const throwsLater = withReaders('a reader throws', (reader) => {
  let count = 0
  return {
    ...reader,
    position: reader.position,
    async read(records) {
      count += records.length
      if (count > 40) throw new Error('enough')
      return reader.read(records)
    },
  }
})
