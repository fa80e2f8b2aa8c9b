// Compatibility: checks that all versions of a schema in the lock can read each other's records.
// Does not own: the content of the lock (generate.ts).
//
// Both directions matter. New code reads old records, because topics are kept and replayed. Old
// code reads new records, because a fleet is upgraded one process at a time, and your guard may
// stay on an old version for months.

import avro from 'avsc'
import type { LockEntry } from './lock-entry.ts'

type AvroSchema = Parameters<typeof avro.Type.forSchema>[0]

/**
 * One sentence for each released schema that is incompatible with its message's newest schema.
 */
export function incompatibilities(lock: LockEntry[]): string[] {
  const problems: string[] = []
  for (const current of lock) {
    const versions = lock.filter((entry) => entry.type === current.type)
    if (versions.some((entry) => entry.version > current.version)) continue
    // Compare with all versions: 3 may be compatible with 2, and 2 with 1, but not 3 with 1.
    for (const released of versions.filter((entry) => entry.released && entry !== current)) {
      for (const [reader, writer] of [
        [current, released],
        [released, current],
      ] as const) {
        if (reader.former === true) continue
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

/** The reason why the reader's schema cannot read the writer's records. Undefined: it can. */
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
