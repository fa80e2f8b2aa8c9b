// The id of a derived record, and the marks by which a reader drops repeats (R3).
// The same input gives the same records. So (stage, partition, offset of the input,
// n) always names the same record.
// A reader keeps one high-water mark for each (writer stage, partition). It drops
// records that are not above the mark.

/** Written as `stage/partition/offset/n`. */
export type DerivedId = { stage: string; partition: number; offset: number; n: number }

/** A parsed id. `writer`: its `stage/partition`. */
export type ReadId = DerivedId & { writer: string }

export function formatId(id: DerivedId): string {
  return `${id.stage}/${id.partition}/${id.offset}/${id.n}`
}

const shape = /^([a-z-]+)\/(\d{1,9})$/

/** The parsed writers by their text, `stage/partition`. They are few, and each record names one. */
const writers = new Map<string, { writer: string; stage: string; partition: number } | undefined>()
const writersMax = 10_000

/** The last parsed id: a replay parses the id of each record, and then the fold does. */
let known: { text: string; id: ReadId | undefined } = { text: '', id: undefined }

/** Undefined: not a derived id. */
export function parseId(text: string | undefined): Readonly<ReadId> | undefined {
  if (text === undefined) return undefined
  if (text !== known.text) known = { text, id: parse(text) }
  return known.id
}

function parse(text: string): ReadId | undefined {
  const last = text.lastIndexOf('/')
  const middle = text.lastIndexOf('/', last - 1)
  const offset = wholeNumberIn(text, middle + 1, last, 15)
  const n = wholeNumberIn(text, last + 1, text.length, 9)
  if (middle < 0 || offset < 0 || n < 0) return undefined
  const writer = writerIn(text.slice(0, middle))
  return (
    writer && { writer: writer.writer, stage: writer.stage, partition: writer.partition, offset, n }
  )
}

function writerIn(text: string) {
  const known = writers.get(text)
  if (known !== undefined || writers.has(text)) return known
  const [, stage, digits] = shape.exec(text) ?? []
  const found =
    stage === undefined
      ? undefined
      : { writer: `${stage}/${Number(digits)}`, stage, partition: Number(digits) }
  if (writers.size >= writersMax) writers.clear()
  writers.set(text, found)
  return found
}

/** A number of 1 to `digitsMax` digits; -1: not a number. */
function wholeNumberIn(text: string, from: number, to: number, digitsMax: number): number {
  if (to <= from || to - from > digitsMax) return -1
  let value = 0
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/**
 * By `stage/partition`: offset and n of the newest derived record that was applied. A plain object,
 * because commit metadata holds it as JSON.
 */
export type Marks = Record<string, Mark>

export type Mark = [offset: number, n: number]

/** Whether a record with this id was applied before. */
export function isRepeat(marks: Marks, id: ReadId): boolean {
  const mark = marks[id.writer]
  return mark !== undefined && (id.offset < mark[0] || (id.offset === mark[0] && id.n <= mark[1]))
}

/** Moves the writer's mark to this record, in place. */
export function moveMark(marks: Marks, id: ReadId): void {
  marks[id.writer] = [id.offset, id.n]
}
