// The id of a derived record, and the marks by which a reader drops repeats (R3).
// I1. The same input gives the same records, so (stage, partition, offset of the input, n) names a record for ever.
// I2. A reader keeps one high-water mark for each (writer stage, partition) and drops what is not above it.

/** Written as `stage/partition/offset/n`. */
export type DerivedId = { stage: string; partition: number; offset: number; n: number }

/** One that was read. `writer`: the first two of it. */
export type ReadId = DerivedId & { writer: string }

export function formatId(id: DerivedId): string {
  return `${id.stage}/${id.partition}/${id.offset}/${id.n}`
}

const shape = /^([a-z-]+)\/(\d{1,9})\/(\d{1,15})\/(\d{1,9})$/

/** Undefined: it is no derived id. */
export function parseId(text: string): ReadId | undefined {
  const [, stage, partition, offset, n] = shape.exec(text) ?? []
  if (stage === undefined) return undefined
  return { writer: `${stage}/${Number(partition)}`, stage, partition: Number(partition), offset: Number(offset), n: Number(n) }
}

/** By `stage/partition`: offset and n of the newest derived record that was taken. As JSON in commit metadata, so plain. */
export type Marks = Record<string, [offset: number, n: number]>

/** Whether a record with this id was taken before. */
export function isRepeat(marks: Marks, id: ReadId): boolean {
  const mark = marks[id.writer]
  return mark !== undefined && (id.offset < mark[0] || (id.offset === mark[0] && id.n <= mark[1]))
}

/** Moves the writer's mark to this record, in place. */
export function moveMark(marks: Marks, id: ReadId): void {
  marks[id.writer] = [id.offset, id.n]
}
