// `weir dead-letters retry`: writes the records of dead letters to their topics again, once the
// cause is fixed.
// It writes only records from outside (letters.ts has the reason), and always to the
// partition of the key.
// A copy in the log that is newer than the letter prevents a second one. Two simultaneous
// retries may both write, but the ids that clients assign cover that case.
// Exit codes: 0 all are written, now or earlier. 1 one is not, or the user answered no. 2 failed.

import { partitionCount } from '../../../client/place/open-bus.ts'
import type { Appended } from '../../../shared/contract/bus.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { type ErrorCode, usageError, WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { isConfirmed } from '../../terminal/confirmed.ts'
import { createProgress, type Progress } from '../../terminal/progress.ts'
import { processStreams, type Streams } from '../../terminal/streams.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { assertLogExists, type OpenLog, silentProgress } from '../open-log.ts'
import { withRegistry } from '../registry.ts'
import { type Copies, copiesOf } from './copies.ts'
import {
  endOfLetters,
  faultOf,
  type Letter,
  type LetterFilter,
  letterNamed,
  lettersIn,
  originalOf,
  retryTopicOf,
} from './letters.ts'

export type RetryOptions = LetterFilter & { all?: boolean; yes?: boolean }

/** The most records for one confirmation. */
const lettersMax = 10_000

/** Throws `usage`, and errors of reading or writing the log. */
export async function retryDeadLetters(
  places: string[],
  options: RetryOptions,
  settings: Settings,
  streams: Streams = processStreams(),
): Promise<0 | 1> {
  const { all = false, yes = false } = options
  assertNamed(places, all)
  if (!yes && streams.input.isTTY !== true)
    throw usageError(
      'standard input is not a terminal, so nobody can confirm the retry: give --yes',
    )
  const progress = createProgress(process.stderr, systemClock, process.env)
  return withWritableLog(settings, progress, async (log) => {
    const { letters, unreadable } = await selectedLetters(log, places, options).finally(
      progress.end,
    )
    const end = endOfLetters(letters.length, unreadable)
    if (end !== undefined) streams.out.write(`${end}\n`)
    if (letters.length === 0) return 0
    const question = `Write the records of ${count(letters.length, 'dead letter')} again?`
    if (!yes && !(await isConfirmed(question, streams))) {
      streams.out.write('nothing was written\n')
      return 1
    }
    const copies = await copiesOf(log, letters).finally(progress.end)
    let refused = 0
    for (const letter of letters) {
      const { text, isWritten } = await retry(log, letter, copies)
      if (!isWritten) refused += 1
      streams.out.write(`${printable(`${letter.place}: ${text}`)}\n`)
    }
    return refused === 0 ? 0 : 1
  })
}

/** `text`: the new place of the record, or the reason not to write it. */
export type Retried = { text: string; isWritten: boolean }

/** Writes the record of one dead letter again. Throws as retryDeadLetters. */
export async function retryDeadLetter(place: string, settings: Settings): Promise<Retried> {
  return withWritableLog(settings, silentProgress, async (log) => {
    const letter = await letterNamed(log, place)
    return retry(log, letter, await copiesOf(log, [letter]))
  })
}

async function withWritableLog<T>(
  settings: Settings,
  progress: Progress,
  work: (log: OpenLog) => Promise<T>,
): Promise<T> {
  assertLogExists(settings)
  return withRegistry(settings, async ({ bus, topicPrefix }) => {
    const partitions = await partitionCount(bus, topicPrefix)
    return work({ bus, topicPrefix, partitions, hasIndex: false, progress })
  })
}

async function selectedLetters(
  log: OpenLog,
  places: string[],
  options: RetryOptions,
): Promise<{ letters: Letter[]; unreadable: number }> {
  const letters: Letter[] = []
  let unreadable = 0
  if (options.all !== true) {
    for (const place of new Set(places)) letters.push(await letterNamed(log, place))
    return { letters, unreadable }
  }
  const onUnreadable = () => {
    unreadable += 1
  }
  for await (const letter of lettersIn(log, options, onUnreadable)) {
    if (letters.length === lettersMax)
      throw usageError(
        `more than ${lettersMax} dead letters match: narrow them with --since, --stage, --code or --conversation`,
      )
    letters.push(letter)
  }
  return { letters, unreadable }
}

async function retry(log: OpenLog, { letter }: Letter, copies: Copies): Promise<Retried> {
  const original = await originalOf(log, letter)
  const fault = faultOf(original)
  if (fault !== undefined) return { text: `not written: ${fault}`, isWritten: false }
  const partition = partitionOf(original.key, log.partitions)
  const name = retryTopicOf(original)
  const earlier = copies.of(original, letter)
  if (earlier !== undefined)
    return {
      text: `already written again, as ${name}/${partition}/${earlier}`,
      isWritten: true,
    }
  const topic = `${log.topicPrefix}${name}`
  try {
    const [appended] = await log.bus.append([
      { topic, partition, key: original.key, value: original.value },
    ])
    const { offset } = appended as Appended
    copies.written(original, offset)
    return { text: `written again, as ${name}/${partition}/${offset}`, isWritten: true }
  } catch (error) {
    if (error instanceof WeirError && codesOfOneRecord.has(error.code))
      return { text: `not written: ${error.message}`, isWritten: false }
    throw error
  }
}

/** Errors that affect one record and not the others. */
const codesOfOneRecord = new Set<ErrorCode>(['bus.topic-missing', 'bus.record-too-large'])

/** Throws `usage` unless there are either places or --all. */
function assertNamed(places: string[], isAll: boolean): void {
  if (places.length > 0 === isAll)
    throw usageError(
      isAll
        ? '--all and places exclude each other: give one of them'
        : 'name dead letters by PARTITION/OFFSET, or give --all',
    )
}
