// Compatibility: whether two versions of a schema can read each other's records.
// Owns: that question, for the lock as a whole. Does not own: what the lock holds (generate.ts).
//
// Both directions matter. Backward: new code reads old records, because topics are kept and replayed. Forward: old code reads new
// records, because a fleet is upgraded one process at a time and a guard of yours may stay on the old version for months.

import avro from 'avsc'
import type { LockEntry } from './generate.ts'

type AvroSchema = Parameters<typeof avro.Type.forSchema>[0]

/** One sentence for each message whose newest schema cannot live beside its last released one; none means all is well. */
export const incompatibilities = (lock: LockEntry[]): string[] => {
  const problems: string[] = []
  for (const type of new Set(lock.map((entry) => entry.type))) {
    const versions = lock.filter((entry) => entry.type === type).sort((a, b) => a.version - b.version)
    const current = versions.at(-1)
    const released = versions.filter((entry) => entry.released && entry !== current).at(-1)
    if (current === undefined || released === undefined) continue
    const backward = whyUnreadable({ writer: released.schema, reader: current.schema })
    if (backward !== undefined) problems.push(`${type}: version ${current.version} cannot read records of version ${released.version}: ${backward}`)
    const forward = whyUnreadable({ writer: current.schema, reader: released.schema })
    if (forward !== undefined) problems.push(`${type}: version ${released.version} cannot read records of version ${current.version}: ${forward}`)
  }
  return problems
}

/** The reason why a reader's schema cannot read what a writer's schema wrote, or undefined when it can. */
export const whyUnreadable = ({ writer, reader }: { writer: unknown; reader: unknown }): string | undefined => {
  const [writerType, readerType] = [writer, reader].map((schema) => avro.Type.forSchema(schema as AvroSchema, { wrapUnions: 'never' }))
  try {
    readerType?.createResolver(writerType as avro.Type)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
