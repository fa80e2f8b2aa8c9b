// What a comparison came to, for people and as JSON.

import type { RecordToAppend, StoredRecord } from '../../../shared/bus/port.ts'
import type { Message } from '../../../shared/messages.ts'
import { version } from '../../../shared/version.ts'
import { contentOf } from '../tail/record-line.ts'
import { columnsOfOutput, painted } from '../terminal/paint.ts'
import { printable, printableJson } from '../terminal/printable.ts'
import { count, instant } from '../terminal/quantities.ts'
import type { Tally } from './compare.ts'
import type { Address, Difference } from './difference.ts'
import { causesOf, timeOf } from './difference.ts'
import type { Replayed } from './replay-log.ts'
import { sideBySide } from './side-by-side.ts'

/** `isRedacted`: of a bundle in which texts were taken out, so that what was decided by them cannot come out the same. */
export function printReplayed(
  { tally, differences, first }: Replayed,
  { full, isRedacted }: { full: boolean; isRedacted: boolean },
  out: NodeJS.WriteStream,
): void {
  const what = `${count(tally.records, 'record')} read, ${count(tally.turns, 'turn')}`
  const line = (tone: Parameters<typeof painted>[1], text: string): boolean => out.write(`${painted(out, tone, printable(text))}\n`)
  if (first === undefined)
    line(
      'good',
      `The same: ${what}, ${count(tally.same, 'decision')} again as in the log, ${tally.sameContent === 0 ? 'byte for byte' : 'by their content'}.`,
    )
  else line('bad', `Differs: ${what}, ${count(tally.same, 'decision')} as in the log, ${differences} not.`)
  for (const note of notesOf(tally)) line('faint', note)
  if (first === undefined) return
  if (isRedacted) line('warning', '  the bundle is redacted: what was decided by a text that was taken out differs')

  line('plain', '')
  line('title', `The first difference, at ${instant(timeOf(first))}: ${differenceText(first)}`)
  line('plain', `  led to by  ${inputText(first)}`)
  line('plain', `  log        ${first.logged === undefined ? 'nothing' : `${addressText(first.logged)}, id ${first.logged.id}`}`)
  line(
    'plain',
    `  replay     ${first.again === undefined ? 'nothing' : `${first.again.topic}/${first.again.partition}, id ${first.again.id}`}`,
  )
  for (const cause of causesOf(first, { log: tally.writtenBy, own: version() })) line('warning', `  ${cause}`)
  line('plain', '')
  const width = columnsOfOutput(out)
  for (const { text, isDifferent } of sideBySide(contentIn(first.logged), contentIn(first.again), { width, full }))
    line(isDifferent ? 'bad' : 'faint', text)
  if (first.inputRecord === undefined) return
  line('plain', '')
  line('title', 'What led to it')
  for (const { text } of sideBySide(contentIn(first.inputRecord), undefined, { width, full })) line('plain', text)
}

function notesOf({ sameContent, awaited, deleted, unjudged, unjudgedKeys }: Tally): string[] {
  const names = [...unjudgedKeys].slice(0, 5).join(', ')
  const more = unjudgedKeys.size > 5 ? ', …' : ''
  return [
    ...(sameContent > 0 ? [`  in another version of their schema, so compared by content: ${count(sameContent, 'record')}`] : []),
    ...(unjudged > 0 ? [`  not judged: ${count(unjudged, 'record')} of units whose beginning is not there (${names}${more})`] : []),
    ...(awaited > 0 ? [`  not in the log yet: ${count(awaited, 'record')}; a stage is behind, or the range ends there`] : []),
    ...(deleted > 0 ? [`  no longer in the log: ${count(deleted, 'record')}`] : []),
  ]
}

function differenceText({ kind, stage, logged, again }: Difference): string {
  switch (kind) {
    case 'differs':
      return `${stage} wrote this ${typeOf(logged)} otherwise`
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

function addressText({ topic, partition, offset }: Address): string {
  return `${topic}/${partition}/${offset}`
}

/** Bytes in a message are in base64, as `weir tail` has them. */
function contentIn(record: RecordToAppend | undefined): object | undefined {
  if (record === undefined) return undefined
  const { message, undecodable } = contentOf(record.value)
  return message === null ? { undecodable: undecodable ?? 'a tombstone' } : readable(message)
}

function readable(message: Message): object {
  return message.type === 'dead-letter' ? { ...message, value: Buffer.from(message.value).toString('base64') } : message
}

/** What `weir replay --json` prints. Fields are added, none changes its meaning. */
export function replayedJson({ tally, differences, first }: Replayed): string {
  const { unjudgedKeys, same, ...counts } = tally
  const recordJson = (record: RecordToAppend | StoredRecord | undefined) =>
    record && {
      ...{ topic: record.topic, partition: record.partition, key: record.key, id: record.id ?? null },
      ...('offset' in record ? { offset: record.offset, time: new Date(record.time).toISOString() } : {}),
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
      causes: causesOf(first, { log: tally.writtenBy, own: version() }),
    },
  })
}
