// Reads a file of transcripts: JSON, or JSON lines. A line is a transcript; or, where each line is a message by itself, all lines together are one.
// A log of requests repeats what was said before in each request: of those the last one is kept, which has it all, and the others are counted.
// R1. Lines with different ids are different conversations, whatever they say. Only lines of one id, or without any, are looked at for such repetitions.

import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { readText } from '../../../shared/agent-file/text-file.ts'
import { WeirError } from '../../../shared/errors.ts'
import { isObject } from '../../../shared/json-object.ts'
import { limits } from '../../../shared/limits.ts'
import { cutToBytes } from '../../../shared/text-cut.ts'
import { readAnthropic } from './anthropic.ts'
import { readOpenai } from './openai.ts'
import { readOpenaiAgents } from './openai-agents.ts'
import type { ReadPieces, Transcript } from './transcript.ts'
import { invalid, transcriptOf } from './transcript.ts'

export const transcriptFormats = ['anthropic', 'openai', 'openai-agents'] as const
export type TranscriptFormat = (typeof transcriptFormats)[number]

const readers: Record<TranscriptFormat, (value: unknown, where: string) => ReadPieces> = {
  anthropic: readAnthropic,
  openai: readOpenai,
  'openai-agents': readOpenaiAgents,
}

/** A file is kept in memory as a whole. */
const fileBytesMax = 256 * 1024 * 1024
/** Of what is put behind an id that is there already. */
const numberBytesMax = 16

type Found = { where: string; read: ReadPieces }

/** Lines that were taken for a conversation of which another line has it all. `equal`: to a later line. */
export type Repeated = { beginnings: number; equal: number }

/** In the order of the file. Throws `usage` (no such file) and `transcript.invalid`, with the line and the path of what is wrong. */
export function readTranscripts(file: string, format: TranscriptFormat): { transcripts: Transcript[]; repeated: Repeated } {
  const content = readText(file, fileBytesMax)
  if ('fault' in content) throw new WeirError('usage', `${file} ${content.fault}`)
  const values = valuesIn(file, content.text)
  const found = values.map(({ where, value }): Found => ({ where, read: readers[format](value, where) }))
  const name = cutToBytes(basename(file, extname(file)), limits.conversationIdBytesMax - numberBytesMax)
  const used = new Set<string>()
  const { kept, repeated } = withoutRepetitions(found)
  const transcripts = kept.map(({ where, read }, at) => {
    const conversation = unused(isId(read.id) ? read.id : found.length === 1 ? name : `${name}-${at + 1}`, used)
    return transcriptOf(where, conversation, read)
  })
  return { transcripts, repeated }
}

function valuesIn(file: string, text: string): { where: string; value: unknown }[] {
  if (text.trim() === '') throw invalid(file, 'is empty')
  const whole = parsed(text)
  if ('value' in whole) return [{ where: file, value: whole.value }]
  const lines = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ where: `${file}:${index + 1}`, line }]))
  const values = lines.map(({ where, line }) => {
    const value = parsed(line)
    if ('fault' in value)
      throw invalid(where, `is no JSON (${lines.length === 1 ? whole.fault : value.fault}); a transcript is JSON, or JSON lines`)
    return { where, value: value.value }
  })
  return values.every(({ value }) => isMessage(value)) ? [{ where: file, value: values.map(({ value }) => value) }] : values
}

function isMessage(value: unknown): boolean {
  return (
    isObject(value) &&
    !('messages' in value) &&
    ('role' in value || 'call_id' in value || 'callId' in value || 'rawItem' in value || 'raw_item' in value)
  )
}

function parsed(text: string): { value: unknown } | { fault: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

/** Without those that are the beginning of another one, and of equal ones the last: a request repeats the requests before it. Keeps R1. */
function withoutRepetitions(found: Found[]): { kept: Found[]; repeated: Repeated } {
  const beginnings = new Set<string>()
  const wholes = found.map(({ read }) => {
    let digest = digestOf('', read.id?.trim() ?? '')
    for (const piece of read.pieces) {
      beginnings.add(digest)
      digest = digestOf(digest, JSON.stringify(piece))
    }
    return digest
  })
  const last = new Map(wholes.map((digest, at) => [digest, at]))
  const whole = found.filter((_, at) => !beginnings.has(wholes[at] as string))
  const kept = found.filter((_, at) => !beginnings.has(wholes[at] as string) && last.get(wholes[at] as string) === at)
  return { kept, repeated: { beginnings: found.length - whole.length, equal: whole.length - kept.length } }
}

function digestOf(before: string, text: string): string {
  return createHash('sha256').update(before).update(text).digest('base64')
}

/** What cannot be a conversation's id is as if there were none. */
function isId(id: string | undefined): id is string {
  return id !== undefined && id.trim() !== '' && Buffer.byteLength(id) <= limits.conversationIdBytesMax - numberBytesMax
}

function unused(id: string, used: Set<string>): string {
  let name = id
  for (let n = 2; used.has(name); n += 1) name = `${id} (${n})`
  used.add(name)
  return name
}
