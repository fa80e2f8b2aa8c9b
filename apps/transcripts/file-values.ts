// A file's JSON values: the lines, a list's elements, or a single value. Lines are read
// twice, the second time on demand, so memory holds only the longest line. Other files are held as
// a whole.

import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { usageError, type WeirError } from '../../shared/lib/errors.ts'
import { isObject, jsonIn, objectIn } from '../../shared/lib/json/json-object.ts'
import { readText, unreadable } from '../../shared/settings/text-file.ts'
import type { Json } from '../../shared/transcript/json-fields.ts'
import { invalid } from '../../shared/transcript/transcript.ts'
import type { SessionFormat } from '../../shared/wire/format.ts'
import { databaseValues, isDatabase } from './database-values.ts'
import { holdsTranscripts } from './exchange.ts'

/** The limit for a file that is held as a whole, and for a line. */
const valueBytesMax = 256 * 1024 * 1024
const chunkBytes = 1024 * 1024
const newline = 0x0a

export type Value = { value: unknown } | { fault: string }

/** `number`: for reading it again. `fault`: the reason why it is no value. */
export type Found = { number: number; where: string } & Value

export type FileValues = {
  /** Whether the file has several values. Then an unusable one is left out. */
  areSeveral: boolean
  /** Yields the values in order, in batches. `read` receives the number of bytes read. */
  each(read: (bytes: number) => void): AsyncIterable<Found[]>
  /** Reads a value again that `each` yielded. */
  again(number: number): { value: unknown; where: string }
  close(): void
}

type Line = { offset: number; length: number; number: number; bytes: Buffer }

/** `text`: the content, if no file has it. */
export type ValueOptions = {
  session?: SessionFormat | undefined
  since?: Milliseconds | undefined
  text?: string | undefined
}

/** Throws `usage` (no such file) and `transcript.invalid`. */
export async function openValues(
  file: string,
  { session, since, text }: ValueOptions = {},
): Promise<FileValues> {
  if (text !== undefined) return textValues(file, text, session)
  const bytes = sizeOf(file)
  if (session?.database !== undefined && isDatabase(file))
    return databaseValues(file, session.database, since)
  const [first, second] = await beginningOf(file)
  if (first === undefined) throw invalid(file, 'is empty')
  const whole =
    session?.joined === undefined ? undefined : joinedLines(file, textOf(file), session.joined)
  if (whole !== undefined) return valuesIn(file, whole)
  if (second !== undefined && 'value' in lineValue(first)) return linesIn(file)
  if (bytes > valueBytesMax) {
    // The first line can be broken if the log was truncated.
    if (
      isBracket(first.bytes.toString('latin1')) ||
      (second !== undefined && 'value' in lineValue(second))
    )
      return linesIn(file)
    throw invalid(
      file,
      `is one value of ${bytes} bytes. The limit is ${valueBytesMax} bytes; larger files must be JSON lines`,
    )
  }
  const value = parsed(textOf(file))
  return 'value' in value ? valuesIn(file, value.value) : linesIn(file, value.fault)
}

/** Of the whole file. Throws `usage`. */
function textOf(file: string): string {
  const content = readText(file, valueBytesMax)
  if ('fault' in content) throw usageError(`${file} ${content.fault}`)
  return content.text
}

/** The session of all lines. Undefined: the file has none. A line that is no JSON is left out. */
function joinedLines(
  file: string,
  text: string,
  joined: (lines: Json[], folder: string) => unknown,
): unknown {
  const whole = objectIn(text)
  const lines = whole === undefined ? text.split('\n').map(jsonIn).filter(isObject) : [whole]
  return joined(lines, basename(dirname(resolve(file))))
}

function textValues(name: string, text: string, session: SessionFormat | undefined): FileValues {
  const joined = session?.joined && joinedLines(name, text, session.joined)
  if (joined !== undefined) return valuesIn(name, joined)
  const whole = parsed(text)
  if ('value' in whole) return valuesIn(name, whole.value)
  const found = text.split('\n').flatMap((line, at) => {
    const where = `${name}:${at + 1}`
    return line.trim() === '' ? [] : [{ where, ...parsed(line) }]
  })
  return {
    areSeveral: true,
    async *each(read) {
      yield found.map((one, number) => ({ ...one, number }))
      read(0)
    },
    again(number) {
      const { where, ...one } = found[number] as { where: string } & Value
      if ('fault' in one) throw invalid(where, one.fault)
      return { where, value: one.value }
    },
    close() {},
  }
}

/** In bytes. */
export function sizeOf(file: string): number {
  const stat = statOf(file)
  if (!stat.isFile())
    throw usageError(
      `${file} ${stat.isDirectory() ? 'is a folder; must be a file' : 'is not a regular file'}`,
    )
  return stat.size
}

function statOf(file: string): Stats {
  try {
    return statSync(file)
  } catch (error) {
    throw unreadableFile(file, error)
  }
}

function unreadableFile(file: string, cause: unknown): WeirError {
  return usageError(`${file} ${unreadable(cause)}`, { cause })
}

/** The first two lines that are not blank. */
async function beginningOf(file: string): Promise<Line[]> {
  const first: Line[] = []
  for await (const lines of linesOf(file, () => {})) {
    first.push(...lines)
    if (first.length >= 2) break
  }
  return first
}

function valuesIn(file: string, whole: unknown): FileValues {
  const list = listIn(whole)
  const values = list ?? [whole]
  const whereOf = (number: number) => (list === undefined ? file : `${file}[${number}]`)
  return {
    areSeveral: list !== undefined,
    async *each(read) {
      yield values.map((value, number) => ({ number, where: whereOf(number), value }))
      read(0)
    },
    again: (number) => ({ value: values[number], where: whereOf(number) }),
    close() {},
  }
}

/** A list of transcripts, or a page of one. A list of messages is one transcript. */
function listIn(whole: unknown): unknown[] | undefined {
  const list = Array.isArray(whole) ? whole : (whole as { data?: unknown } | null)?.data
  return Array.isArray(list) && holdsTranscripts(list) ? list : undefined
}

/** `fault`: the reason why the whole file is no JSON. */
function linesIn(file: string, fault?: string): FileValues {
  const descriptor = openSync(file, 'r')
  const places: Omit<Line, 'bytes'>[] = []
  return {
    areSeveral: true,
    async *each(read) {
      for await (const lines of linesOf(file, read))
        yield lines.flatMap(({ bytes, ...place }) => {
          if (bytes.length <= 2 && isBracket(bytes.toString('latin1'))) return []
          return [
            {
              ...lineValue({ bytes }, fault),
              where: `${file}:${place.number}`,
              number: places.push(place) - 1,
            },
          ]
        })
    },
    again(number) {
      const { offset, length, number: line } = places[number] as Line
      const where = `${file}:${line}`
      const bytes = Buffer.allocUnsafe(length)
      const value =
        readSync(descriptor, bytes, 0, length, offset) === length
          ? lineValue({ bytes })
          : { fault: 'no longer exists' }
      if ('value' in value) return { value: value.value, where }
      throw invalid(where, `${value.fault}: the file changed while it was read`)
    },
    close: () => closeSync(descriptor),
  }
}

/** Yields the lines that are not blank, chunk by chunk. */
async function* linesOf(file: string, read: (bytes: number) => void): AsyncGenerator<Line[]> {
  const handle = await open(file).catch((error: unknown) => {
    throw unreadableFile(file, error)
  })
  try {
    let number = 0
    let offset = 0
    let parts: Buffer[] = []
    let held = 0
    const line = (last: Buffer): Line[] => {
      const bytes = parts.length === 0 ? last : Buffer.concat([...parts, last])
      const place = { offset, length: bytes.length, number: ++number }
      offset += bytes.length + 1
      parts = []
      held = 0
      return isBlank(bytes) ? [] : [{ ...place, bytes }]
    }
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes)
      const { bytesRead } = await handle.read(chunk, 0, chunkBytes)
      if (bytesRead === 0) break
      read(bytesRead)
      const lines: Line[] = []
      let from = 0
      for (
        let at = chunk.indexOf(newline);
        at >= 0 && at < bytesRead;
        at = chunk.indexOf(newline, from)
      ) {
        lines.push(...line(chunk.subarray(from, at)))
        from = at + 1
      }
      if (from < bytesRead) parts.push(chunk.subarray(from, bytesRead))
      held += bytesRead - from
      if (held > valueBytesMax)
        throw invalid(
          `${file}:${number + 1}`,
          `is a line of more than ${valueBytesMax} bytes, the limit`,
        )
      yield lines
    }
    if (parts.length > 0) yield line(Buffer.alloc(0))
  } finally {
    await handle.close()
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)
}

/** The brackets of a list with one element on each line. */
function isBracket(line: string): boolean {
  return /^[[\]],?\s*$/.test(line)
}

/** The value of a line, without the comma after a list element. */
function lineValue({ bytes }: Pick<Line, 'bytes'>, faultOfFile?: string): Value {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { fault: 'is not UTF-8' }
  }
  const value = parsed(text.replace(/,\s*$/, ''))
  return 'value' in value
    ? value
    : {
        fault: `is not JSON${faultOfFile === undefined ? '' : ` (${faultOfFile})`}; a transcript is JSON, or JSON lines`,
      }
}

function parsed(text: string): Value {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}
