// `weir import-transcript FILE --format FORMAT -o FILE.weir`: conversations of another runtime as a bundle, to judge, to replay with Weir's thresholds and to
// read: what would Weir have done with these logs.

import { setImmediate as othersTurn } from 'node:timers/promises'
import type { BundleWriter } from '../../../shared/bus/bundle/writer.ts'
import { systemClock } from '../../../shared/clock.ts'
import { decode } from '../../../shared/codec.ts'
import type { Message } from '../../../shared/messages.ts'
import type { TopicName } from '../../../shared/topology.ts'
import { topics } from '../../../shared/topology.ts'
import { refuseTaken } from '../../../shared/whole-file.ts'
import { createTurnTally } from '../export/turn-tally.ts'
import { makeBundle } from '../make-bundle.ts'
import { printableLines } from '../terminal/printable.ts'
import type { Progress } from '../terminal/progress.ts'
import { createProgress } from '../terminal/progress.ts'
import { count } from '../terminal/quantities.ts'
import { createPlayer } from './played.ts'
import type { Repeated, TranscriptFormat } from './read-transcripts.ts'
import { readTranscripts } from './read-transcripts.ts'
import type { Transcript } from './transcript.ts'
import { invalid } from './transcript.ts'

export type ImportTranscriptOptions = { format: TranscriptFormat; output: string; force?: boolean }

const topicPrefix = 'weir.'
const partitions = 1

/** What did not become part of the bundle, or did so in another form: a sentence and how often. */
type Notes = Map<string, number>

/** Resolves to the exit code; 130: stopped by Ctrl-C, and nothing was written. Throws `usage`, `transcript.invalid`, `output.*`. */
export async function importTranscript(file: string, options: ImportTranscriptOptions, out: NodeJS.WriteStream): Promise<0 | 130> {
  const { format, output } = options
  refuseTaken(output, { force: options.force ?? false, reads: file }) // before a large file is read
  const { transcripts, repeated } = readTranscripts(file, format)
  return makeBundle(options, out, async (bundle, signal) => {
    const progress = createProgress(process.stderr, systemClock, process.env, { doing: 'playing the transcript', what: 'round' })
    const written = await write(file, transcripts, { bundle, signal, progress }).finally(progress.end)
    if (written === undefined) return undefined
    const { notes, turns } = written
    const facts = { topicPrefix, partitions, asked: JSON.stringify({ transcript: file }), redaction: null }
    await bundle.finish({ madeAt: new Date(systemClock.now()).toISOString(), source: `transcript ${format}`, ...facts })
    const what = `${count(transcripts.length, 'conversation')}, ${count(turns, 'turn')}, ${count(bundle.records, 'record')}`
    const noted = [...notes].map(([note, times]) => `${note}${times === 1 ? '' : ` (${times} times)`}`)
    const lines = [`${output}: ${what}`, ...[...repetitionsIn(repeated), ...noted].map((line) => `  ${line}`)]
    return lines.flatMap((line) => printableLines(line).map((printed) => `${printed}\n`)).join('')
  })
}

/** Taken for the same conversation: who has several that say the same must learn that they are one here. */
function repetitionsIn({ beginnings, equal }: Repeated): string[] {
  const lines = (n: number): string => `${count(n, 'line')} ${n === 1 ? 'is' : 'are'}`
  return [
    ...(beginnings > 0 ? [`${lines(beginnings)} the beginning of a longer one, and left out as the same conversation`] : []),
    ...(equal > 0 ? [`${lines(equal)} the same as a later one, and left out as the same conversation`] : []),
  ]
}

type Writing = { bundle: BundleWriter; signal: AbortSignal; progress: Progress }

/** Undefined: it was stopped. */
async function write(
  file: string,
  transcripts: Transcript[],
  { bundle, signal, progress }: Writing,
): Promise<{ notes: Notes; turns: number } | undefined> {
  const notes: Notes = new Map()
  const note = (text: string, times = 1): void => {
    if (times > 0) notes.set(text, (notes.get(text) ?? 0) + times)
  }
  const tally = createTurnTally(partitions)
  const pause = async (): Promise<void> => {
    progress.read(1)
    await othersTurn() // or Ctrl-C would not be heard
    signal.throwIfAborted()
  }
  const player = createPlayer({ topicPrefix, startAt: systemClock.now(), pause })
  for (const { turns } of transcripts) progress.expect(turns.reduce((sum, { responses }) => sum + responses.length, 0))
  for (const [name, { kind }] of Object.entries(topics)) bundle.topic(name, kind)
  for (const transcript of transcripts) {
    const played = await player.play(transcript).catch((error: unknown) => {
      if (signal.aborted) return undefined
      throw error
    })
    if (played === undefined) return undefined
    const { records, unheard, unanswered, unknown } = played
    for (const record of records.toSorted(byTopic)) {
      bundle.add(record)
      const message = decode(record.value as Uint8Array)
      tally.see(record.topic, record, message)
      noteRefusals(message, transcript, note)
    }
    for (const [what, times] of transcript.leftOut) note(`left out: ${what}`, times)
    note('left out: a response behind the end of its turn', unheard)
    note('a call has no result in the transcript, and none here', unanswered)
    note('a call has no result in the transcript, and the model went on: its outcome is unknown here', unknown)
  }
  const turns = tally.turns()
  if (turns.length === 0) throw invalid(file, `there is no turn in it that Weir could play: ${[...notes.keys()].join('; ')}`)
  for (const turn of turns) bundle.turn(turn)
  return { notes, turns: turns.length }
}

/** For quick reading; of a topic they stay in their order. */
function byTopic(a: { topic: TopicName }, b: { topic: TopicName }): number {
  return a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : 0
}

/** What Weir refuses before it runs has Weir's result here, whatever it brought there. */
function noteRefusals(message: Message, { tools }: Transcript, note: (text: string) => void): void {
  if (message.type === 'turn-finished' && message.outcome === 'failed' && message.totals.rounds === 0)
    note(`left out: a message that Weir refuses (${message.reason})`)
  if (message.type !== 'round-checked') return
  for (const { code } of message.rejections) {
    const why =
      code === 'unknown_tool' && tools !== undefined
        ? 'a call of a tool that was not offered'
        : `a call that Weir refuses before it runs (${code})`
    note(`${why}: its result is Weir's, not the recorded one`)
  }
}
