// Compatibility: whether two versions of a schema can read each other's records.
// Owns: that question, for the lock as a whole. Does not own: what the lock holds (generate.ts).
//
// Both directions matter. Backward: new code reads old records, because topics are kept and
// replayed. Forward: old code reads new records, because a fleet is upgraded one process at a time
// and a guard of yours may stay on the old version for months.

import avro from 'avsc'
import type { LockEntry } from './lock-entry.ts'

type AvroSchema = Parameters<typeof avro.Type.forSchema>[0]

/**
 * One sentence for each released schema that its message's newest schema cannot live beside; none
 * means all is well.
 */
export function incompatibilities(lock: LockEntry[]): string[] {
  const problems: string[] = []
  for (const current of lock) {
    const versions = lock.filter((entry) => entry.type === current.type)
    if (versions.some((entry) => entry.version > current.version)) continue
    // All of them, not the last one only: version 3 may be fine beside 2, and 2 beside 1, and still
    // be unable to replay records of 1.
    for (const released of versions.filter((entry) => entry.released && entry !== current)) {
      for (const [reader, writer] of [
        [current, released],
        [released, current],
      ] as const) {
        const reason = whyUnreadable({ writer: writer.schema, reader: reader.schema })
        if (reason === undefined) continue
        problems.push(
          `${current.type}: version ${reader.version} cannot read records of version ${writer.version}: ${reason}`,
        )
      }
    }
  }
  return problems
}

/**
 * The reason why a reader's schema cannot read what a writer's schema wrote, or undefined when it
 * can.
 */
export function whyUnreadable({
  writer,
  reader,
}: {
  writer: unknown
  reader: unknown
}): string | undefined {
  const [writerType, readerType] = [writer, reader].map((schema) =>
    avro.Type.forSchema(schema as AvroSchema, { wrapUnions: 'never' }),
  )
  try {
    readerType?.createResolver(writerType as avro.Type)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
