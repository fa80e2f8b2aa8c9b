// Prints the result of a comparison, for people and as JSON.

import type { BundleTurn } from '../../shared/bus/bundle/format.ts'
import type { RecordToAppend, StoredRecord } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { version } from '../../shared/lib/version.ts'
import { contentOf } from '../history/tail/record-line.ts'
import { type NumberOf, turnText } from '../history/turn-numbers.ts'
import { columnsToCut, painted, type Tone } from '../terminal/paint.ts'
import { printable, printableJson } from '../terminal/text/printable.ts'
import { count, instant } from '../terminal/text/quantities.ts'
import type { Tally } from './compare.ts'
import { addressText, causesOf, type Difference, timeOf } from './difference.ts'
import { commonText, cut, differingLines, differingMembers, memberLines } from './record-members.ts'
import type { Replayed } from './replay-log.ts'

/**
 * `cut`: turns of a bundle without their beginning. `isRedacted`: the bundle lacks texts, so
 * decisions by them cannot be repeated.
 */
export function printReplayed(
  { tally, differences, first }: Replayed,
  {
    full,
    isRedacted,
    cut: cutTurns,
    numberOf,
  }: { full: boolean; isRedacted: boolean; cut: readonly BundleTurn[]; numberOf: NumberOf },
  out: NodeJS.WriteStream,
): void {
  const what = `${count(tally.records, 'record')} read, ${count(tally.turns, 'turn')}`
  const line: Line = (tone, text) => void out.write(`${painted(out, tone, printable(text))}\n`)
  if (first === undefined)
    line(
      'good',
      `The same: ${what}, ${count(tally.same, 'decision')} again as in the log, ${tally.sameContent === 0 ? 'byte for byte' : 'by their content'}.`,
    )
  else
    line(
      'bad',
      `Differs: ${what}, ${count(tally.same, 'decision')} as in the log, ${differences} not.`,
    )
  for (const note of [...notesOf(tally), ...cutNotes(cutTurns, numberOf)]) line('faint', note)
  if (first === undefined) return
  if (isRedacted)
    line('warning', '  the bundle is redacted: decisions that a redacted text led to differ')

  line('plain', '')
  line('title', `The first difference, at ${instant(timeOf(first))}: ${differenceText(first)}`)
  line('plain', `  input      ${inputText(first)}`)
  line(
    'plain',
    `  log        ${first.logged === undefined ? 'nothing' : `${addressText(first.logged)}, id ${first.logged.id}`}`,
  )
  line(
    'plain',
    `  replay     ${first.again === undefined ? 'nothing' : `${first.again.topic}/${first.again.partition}, id ${first.again.id}`}`,
  )
  for (const cause of causesOf(first, { log: tally.writtenBy, own: version() }))
    line('warning', `  ${cause}`)
  const width = columnsToCut(out)
  const shown = { width, full, line }
  const [log, replay, input] = [first.logged, first.again, first.inputRecord].map(membersOf)
  if (log !== undefined && replay !== undefined) printPair(log, replay, { width, line })
  else if (!full) printRecord('The record', log ?? replay, shown)
  if (full) {
    printRecord('The record in the log', log, shown)
    printRecord('The record of the replay', replay, shown)
  }
  printRecord('The input record', input, shown)
  if (full) return
  line('plain', '')
  line('faint', '--full shows the records whole')
}

type Line = (tone: Tone, text: string) => void
type Printing = { width: number; line: Line }

function printPair(log: object, replay: object, { width, line }: Printing): void {
  const members = differingMembers(log, replay)
  line('plain', '')
  line('title', 'Differences')
  if (members.length === 0) line('bad', '  only the bytes: the contents are the same')
  for (const member of members)
    for (const [at, text] of differingLines(member, width).entries())
      line(at === 0 ? 'plain' : 'bad', text)
  const common = commonText(log, replay)
  if (common !== undefined) line('faint', cut(`  the same in both: ${common}`, width))
}

function printRecord(
  title: string,
  record: object | undefined,
  { width, full, line }: Printing & { full: boolean },
): void {
  if (record === undefined) return
  line('plain', '')
  line('title', title)
  const lines = full
    ? JSON.stringify(record, null, 2)
        .split('\n')
        .map((text) => `    ${text}`)
    : memberLines(record, width)
  for (const text of lines) line('plain', text)
}

function notesOf({ sameContent, awaited, deleted, unjudged, unjudgedKeys }: Tally): string[] {
  const names = [...unjudgedKeys].slice(0, 5).join(', ')
  const more = unjudgedKeys.size > 5 ? ', …' : ''
  return [
    ...(sameContent > 0
      ? [
          `  in another version of their schema, so compared by content: ${count(sameContent, 'record')}`,
        ]
      : []),
    ...(unjudged > 0
      ? [
          `  not judged: ${count(unjudged, 'record')} of units whose beginning is missing (${names}${more})`,
        ]
      : []),
    ...(awaited > 0
      ? [
          `  not in the log yet: ${count(awaited, 'record')}; a stage is behind, or the range ends there`,
        ]
      : []),
    ...(deleted > 0 ? [`  no longer in the log: ${count(deleted, 'record')}`] : []),
  ]
}

/** A turn without its beginning can repeat its decisions and is still not judged as a whole. */
function cutNotes(turns: readonly BundleTurn[], numberOf: NumberOf): string[] {
  const names = turns
    .slice(0, 5)
    .map((turn) => `${turnText(numberOf, turn)} of ${turn.conversation}`)
  const more = turns.length > names.length ? ', …' : ''
  return turns.length === 0
    ? []
    : [
        `  the bundle lacks the beginning of ${count(turns.length, 'turn')}, which are not counted: ${names.join(', ')}${more}`,
      ]
}

function differenceText({ kind, stage, logged, again }: Difference): string {
  switch (kind) {
    case 'differs':
      return `${stage} writes this ${typeOf(logged)} differently`
    case 'missing':
      return `${stage} writes this ${typeOf(again)}, and the log does not have it`
    case 'added':
      return `the log has this ${typeOf(logged)}, and ${stage} does not write it`
    default:
      return kind satisfies never
  }
}

function typeOf(record: RecordToAppend | undefined): string {
  return (record && contentOf(record.value).type) ?? 'record'
}

function inputText({ input, inputRecord }: Difference): string {
  if (inputRecord === undefined) return `${addressText(input)}, which is not in the log`
  return `${addressText(input)}, ${typeOf(inputRecord)} of ${inputRecord.key}`
}

/** The compared content, with the key. */
function membersOf(record: RecordToAppend | undefined): object | undefined {
  return record && { key: record.key, ...contentIn(record) }
}

/** Bytes in a message are in base64, as in `weir tail`. */
function contentIn(record: RecordToAppend | undefined): object | undefined {
  if (record === undefined) return undefined
  const { message, undecodable } = contentOf(record.value)
  return message === null ? { undecodable: undecodable ?? 'a tombstone' } : readable(message)
}

function readable(message: Message): object {
  return message.type === 'dead-letter'
    ? { ...message, value: Buffer.from(message.value).toString('base64') }
    : message
}

/** The output of `weir replay --json`. Fields are added, and none changes its meaning. */
export function replayedJson({ tally, differences, first }: Replayed): string {
  const { unjudgedKeys, same, ...counts } = tally
  const recordJson = (record: RecordToAppend | StoredRecord | undefined) =>
    record && {
      topic: record.topic,
      partition: record.partition,
      key: record.key,
      id: record.id ?? null,
      ...('offset' in record
        ? { offset: record.offset, time: new Date(record.time).toISOString() }
        : {}),
      message: contentIn(record),
    }
  return printableJson({
    same: differences === 0,
    decisions: same,
    differences,
    ...counts,
    unjudgedKeys: [...unjudgedKeys],
    first: first && {
      kind: first.kind,
      stage: first.stage,
      input: { ...first.input, ...recordJson(first.inputRecord) },
      logged: recordJson(first.logged) ?? null,
      replayed: recordJson(first.again) ?? null,
      differs:
        first.logged && first.again
          ? differingMembers(membersOf(first.logged), membersOf(first.again))
          : [],
      causes: causesOf(first, { log: tally.writtenBy, own: version() }),
    },
  })
}
