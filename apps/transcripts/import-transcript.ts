// `weir import-transcript FILE --format FORMAT -o FILE.weir` writes conversations of another
// runtime as a bundle. You can judge it, replay it with Weir's thresholds, and read it.

import { setImmediate as othersTurn } from 'node:timers/promises'
import { createTurnTally } from '../../client/bundle/turn-tally.ts'
import type { BundleWriter } from '../../shared/bus/bundle/writer.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { type TopicName, topics } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { refuseTaken } from '../../shared/lib/files/whole-file.ts'
import { createLeftOut, type LeftOut } from '../../shared/transcript/left-out.ts'
import { invalid, type Transcript } from '../../shared/transcript/transcript.ts'
import { makeBundle } from '../bundles/make-bundle.ts'
import { createProgress, type Progress } from '../terminal/progress.ts'
import { printableLines } from '../terminal/text/printable.ts'
import { count } from '../terminal/text/quantities.ts'
import type { IdField } from './conversation-id.ts'
import type { Repeated } from './file-index.ts'
import { sizeOf } from './file-values.ts'
import { transcriptSource } from './made-up-settings.ts'
import { createTranscriptPlayer } from './played.ts'
import { readTranscripts, type TranscriptFile } from './read-transcripts.ts'

/**
 * `conversationId`: the path of the conversation's id in a line (`metadata.chat`), or `none`.
 * Default: the usual places in logs.
 */
export type ImportTranscriptOptions = {
  format: string
  output: string
  force?: boolean
  conversationId?: string | undefined
}

const topicPrefix = 'weir.'
const partitions = 1

/**
 * Resolves to the exit code. 130: stopped by Ctrl-C, and nothing was written. Throws `usage`,
 * `transcript.invalid`, `output.*`.
 */
export async function importTranscript(
  file: string,
  options: ImportTranscriptOptions,
  out: NodeJS.WriteStream,
): Promise<0 | 130> {
  const { format, output, force = false } = options
  refuseTaken(output, { force, reads: file }) // before a large file is read
  const bytes = sizeOf(file)
  return makeBundle(options, out, async (bundle, signal) => {
    const leftOut = createLeftOut()
    try {
      const reading = createProgress(process.stderr, systemClock, process.env, {
        doing: `reading ${file}`,
        what: 'byte',
      })
      reading.expect(bytes)
      const how = {
        format,
        idField: idFieldOf(options.conversationId),
        leftOut,
        signal,
        read: reading.read,
      }
      const transcripts = await readTranscripts(file, how).finally(reading.end)
      const progress = createProgress(process.stderr, systemClock, process.env, {
        doing: 'playing the transcript',
        what: 'round',
      })
      const played = await play(transcripts, { bundle, leftOut, signal, progress }).finally(
        progress.end,
      )
      if (played.turns === 0)
        throw invalid(file, `no turn that Weir can play: ${leftOut.lines().join('; ')}`)
      const facts = {
        topicPrefix,
        partitions,
        asked: JSON.stringify({ transcript: file }),
        redaction: null,
      }
      const made = {
        madeAt: new Date(systemClock.now()).toISOString(),
        source: transcriptSource + format,
      }
      await bundle.finish({ ...made, ...facts }, signal)
      const what = [
        count(played.conversations, 'conversation'),
        count(played.turns, 'turn'),
        count(bundle.records, 'record'),
      ].join(', ')
      const lines = [
        `${output}: ${what}`,
        ...[...repetitionsIn(transcripts.repeated), ...leftOut.lines()].map((line) => `  ${line}`),
      ]
      return lines.flatMap((line) => printableLines(line).map((printed) => `${printed}\n`)).join('')
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  })
}

function idFieldOf(path: string | undefined): IdField {
  return path === undefined || path === 'none' ? path : path.split('.')
}

/** Reports equal transcripts, because they become one conversation. */
function repetitionsIn({ beginnings, equal }: Repeated): string[] {
  const having = (n: number) => `${count(n, 'transcript')} ${n === 1 ? 'is' : 'are'}`
  return [
    ...(beginnings > 0
      ? [
          `${having(beginnings)} the beginning of a longer one, and left out as the same conversation`,
        ]
      : []),
    ...(equal > 0
      ? [`${having(equal)} the same as a later one, and left out as the same conversation`]
      : []),
  ]
}

type Playing = { bundle: BundleWriter; leftOut: LeftOut; signal: AbortSignal; progress: Progress }

/** Throws the reason with which `signal` aborted. */
async function play(
  { rounds, transcripts, close }: TranscriptFile,
  { bundle, leftOut, signal, progress }: Playing,
): Promise<{ conversations: number; turns: number }> {
  const tally = createTurnTally(partitions)
  const pause = async (responses: number): Promise<void> => {
    progress.read(responses)
    await othersTurn() // lets Ctrl-C through
    signal.throwIfAborted()
  }
  const player = createTranscriptPlayer({ topicPrefix, startAt: systemClock.now(), pause })
  progress.expect(rounds)
  for (const [name, { kind }] of Object.entries(topics)) bundle.topic(name, kind)
  let conversations = 0
  try {
    for (const transcript of transcripts(progress.expect)) {
      conversations += 1
      const { records, late, unanswered, unknown } = await player.play(transcript)
      progress.read(late)
      for (const record of records.toSorted(byTopic)) {
        bundle.add(record)
        const message = decode(record.value as Uint8Array)
        tally.add(record.topic, record, message)
        noteRefusals(message, transcript, leftOut)
      }
      const { where } = transcript
      leftOut.leave('a response after the end of its turn', where, late)
      leftOut.note('a call has no result in the transcript, and none here', where, unanswered)
      leftOut.note(
        'a call has no result in the transcript, and the model went on: its outcome is unknown here',
        where,
        unknown,
      )
    }
  } finally {
    close()
  }
  const turns = tally.turns()
  for (const turn of turns) bundle.turn(turn)
  return { conversations, turns: turns.length }
}

/** Sorted for quick reading. The records of a topic keep their order. */
function byTopic(a: { topic: TopicName }, b: { topic: TopicName }): number {
  if (a.topic === b.topic) return 0
  return a.topic < b.topic ? -1 : 1
}

/** A call that Weir denies has Weir's result, not the recorded one. */
function noteRefusals(message: Message, { tools, where }: Transcript, leftOut: LeftOut): void {
  if (
    message.type === 'turn-finished' &&
    message.outcome === 'failed' &&
    message.totals.rounds === 0
  )
    leftOut.leave(`a message that Weir refuses (${message.reason})`, where)
  if (message.type !== 'round-checked') return
  for (const { code } of message.denials) {
    const why =
      code === 'unknown_tool' && tools !== undefined
        ? 'a call of a tool that was not offered'
        : `a call that Weir denies before it runs (${code})`
    leftOut.note(`${why}: its result is Weir's, not the recorded one`, where)
  }
}
