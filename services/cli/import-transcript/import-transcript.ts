// `weir import-transcript FILE --format FORMAT -o FILE.weir`: conversations of another runtime as a bundle, to judge, to replay with Weir's thresholds and to
// read: what would Weir have done with these logs.

import { setImmediate as othersTurn } from 'node:timers/promises'
import type { BundleWriter } from '../../../shared/bus/bundle/writer.ts'
import { systemClock } from '../../../shared/clock.ts'
import { decode } from '../../../shared/codec.ts'
import type { Message } from '../../../shared/messages.ts'
import type { TopicName } from '../../../shared/topology.ts'
import { topics } from '../../../shared/topology.ts'
import { createTurnTally } from '../export/turn-tally.ts'
import { makeBundle } from '../make-bundle.ts'
import { printableLines } from '../terminal/printable.ts'
import { count } from '../terminal/quantities.ts'
import { createPlayer } from './played.ts'
import type { TranscriptFormat } from './read-transcripts.ts'
import { readTranscripts } from './read-transcripts.ts'
import type { Transcript } from './transcript.ts'

export type ImportTranscriptOptions = { format: TranscriptFormat; output: string; force?: boolean }

const topicPrefix = 'weir.'
const partitions = 1

/** What did not become part of the bundle, or did so in another form: a sentence and how often. */
type Notes = Map<string, number>

/** Resolves to the exit code; 130: stopped by Ctrl-C, and nothing was written. Throws `usage`, `transcript.invalid`, `output.*`. */
export async function importTranscript(file: string, options: ImportTranscriptOptions, out: NodeJS.WriteStream): Promise<0 | 130> {
  const { format, output } = options
  const transcripts = readTranscripts(file, format)
  return makeBundle(options, out, async (bundle, signal) => {
    const { notes, turns } = await write(transcripts, bundle, signal)
    if (signal.aborted) return undefined
    const facts = { topicPrefix, partitions, asked: JSON.stringify({ transcript: file }), redaction: null }
    await bundle.finish({ madeAt: new Date(systemClock.now()).toISOString(), source: `transcript ${format}`, ...facts })
    const what = `${count(transcripts.length, 'conversation')}, ${count(turns, 'turn')}, ${count(bundle.records, 'record')}`
    const lines = [`${output}: ${what}`, ...[...notes].map(([note, times]) => `  ${note}${times === 1 ? '' : ` (${times} times)`}`)]
    return lines.flatMap((line) => printableLines(line).map((printed) => `${printed}\n`)).join('')
  })
}

async function write(transcripts: Transcript[], bundle: BundleWriter, signal: AbortSignal): Promise<{ notes: Notes; turns: number }> {
  const notes: Notes = new Map()
  const note = (text: string, times = 1): void => {
    if (times > 0) notes.set(text, (notes.get(text) ?? 0) + times)
  }
  const tally = createTurnTally(partitions)
  const player = createPlayer({ topicPrefix, startAt: systemClock.now() })
  for (const [name, { kind }] of Object.entries(topics)) bundle.topic(name, kind)
  for (const transcript of transcripts) {
    await othersTurn() // or Ctrl-C would not be heard
    if (signal.aborted) break
    const { records, unheard, unanswered } = await player.play(transcript)
    for (const record of records.toSorted(byTopic)) {
      bundle.add(record)
      const message = decode(record.value as Uint8Array)
      tally.see(record.topic, record, message)
      noteRefusals(message, transcript, note)
    }
    for (const [what, times] of transcript.leftOut) note(`left out: ${what}`, times)
    note('left out: a response behind the end of its turn', unheard)
    note('a call has no result in the transcript, and none here', unanswered)
  }
  const turns = tally.turns()
  for (const turn of turns) bundle.turn(turn)
  return { notes, turns: turns.length }
}

/** For quick reading; of a topic they stay in their order. */
function byTopic(a: { topic: TopicName }, b: { topic: TopicName }): number {
  return a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : 0
}

/** What Weir refuses before it runs has Weir's result here, whatever it brought there. */
function noteRefusals(message: Message, { tools }: Transcript, note: (text: string) => void): void {
  if (message.type !== 'round-checked') return
  for (const { code } of message.rejections) {
    const why =
      code === 'unknown_tool' && tools !== undefined
        ? 'a call of a tool that was not offered'
        : `a call that Weir refuses before it runs (${code})`
    note(`${why}: its result is Weir's, not the recorded one`)
  }
}
