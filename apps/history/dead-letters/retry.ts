// `weir dead-letters retry`: writes the records of dead letters again, to where they were read,
// once what kept them from being taken is mended.
// RETRY-1. Only what comes from outside (letters.ts says why), and to the partition of its key,
//     wherever it stood.
// RETRY-2. A record that was written again is known by its bytes in the log, newer than the letter,
//     and is not written a second time. Two who retry at the same moment may both write; what a
//     client sends has an id of its own for that.
// Exit codes: 0 each is written, now or before; 1 one is not, or none because the question was
// answered with no; 2 trouble.

import { createInterface } from 'node:readline/promises'
import { partitionCount } from '../../../client/open-bus.ts'
import type { Appended } from '../../../shared/contract/bus.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { type ErrorCode, WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { printable } from '../../terminal/printable.ts'
import { createProgress } from '../../terminal/progress.ts'
import { count } from '../../terminal/quantities.ts'
import { processStreams, type Streams } from '../../terminal/streams.ts'
import { assertLogExists, type OpenLog } from '../open-log.ts'
import { withRegistry } from '../registry.ts'
import { type Copies, copiesOf } from './copies.ts'
import {
  faultOf,
  type Letter,
  type LetterFilter,
  letterNamed,
  lettersIn,
  originalOf,
} from './letters.ts'

export type RetryOptions = LetterFilter & { all?: boolean; yes?: boolean }

/** Records of one question. */
const lettersMax = 10_000

/** Throws `usage`, and what keeps the log from being read or written. */
export async function retryDeadLetters(
  places: string[],
  options: RetryOptions,
  settings: Settings,
  streams: Streams = processStreams(),
): Promise<0 | 1> {
  const { all = false, yes = false } = options
  assertNamed(places, all)
  if (!yes && streams.input.isTTY !== true)
    throw new WeirError(
      'usage',
      'nobody can be asked here whether these records are to be written again: give --yes',
    )
  assertLogExists(settings)
  return withRegistry(settings, async ({ bus, topicPrefix }) => {
    const partitions = await partitionCount(bus, topicPrefix)
    const progress = createProgress(process.stderr, systemClock, process.env)
    const log: OpenLog = { bus, topicPrefix, partitions, hasIndex: false, progress }
    const letters = await wantedOf(log, places, options).finally(progress.end)
    if (letters.length === 0) {
      streams.out.write('There is no dead letter of that kind.\n')
      return 0
    }
    if (!yes && !(await isConfirmed(letters.length, streams))) {
      streams.out.write('nothing was written\n')
      return 1
    }
    const copies = await copiesOf(log, letters).finally(progress.end)
    let refused = 0
    for (const letter of letters) {
      const { told, isWritten } = await retry(log, letter, copies)
      if (!isWritten) refused += 1
      streams.out.write(`${printable(`${letter.place}: ${told}`)}\n`)
    }
    return refused === 0 ? 0 : 1
  })
}

async function wantedOf(log: OpenLog, places: string[], options: RetryOptions): Promise<Letter[]> {
  const letters: Letter[] = []
  if (options.all !== true) {
    for (const place of new Set(places)) letters.push(await letterNamed(log, place))
    return letters
  }
  for await (const letter of lettersIn(log, options)) {
    if (letters.length === lettersMax)
      throw new WeirError(
        'usage',
        `there are more than ${lettersMax} of them: narrow them with --since, --stage, --code or --conversation`,
      )
    letters.push(letter)
  }
  return letters
}

async function isConfirmed(letters: number, { input, errors }: Streams): Promise<boolean> {
  const prompt = createInterface({ input, output: errors, terminal: true, historySize: 0 })
  try {
    return /^\s*y(es)?\s*$/i.test(
      await prompt.question(
        `Write the records of ${count(letters, 'dead letter')} again? y or n: `,
      ),
    )
  } finally {
    prompt.close()
  }
}

async function retry(
  log: OpenLog,
  { letter }: Letter,
  copies: Copies,
): Promise<{ told: string; isWritten: boolean }> {
  const original = await originalOf(log, letter)
  const fault = faultOf(original)
  if (fault !== undefined) return { told: `not written: ${fault}`, isWritten: false }
  const partition = partitionOf(original.key, log.partitions)
  const before = copies.of(original, letter)
  if (before !== undefined)
    return {
      told: `was written again before, as ${original.topic}/${partition}/${before}`,
      isWritten: true,
    }
  const topic = `${log.topicPrefix}${original.topic}`
  try {
    const [appended] = await log.bus.append([
      { topic, partition, key: original.key, value: original.value },
    ])
    const { offset } = appended as Appended
    copies.written(original, offset)
    return { told: `written again, as ${original.topic}/${partition}/${offset}`, isWritten: true }
  } catch (error) {
    if (error instanceof WeirError && ofThisRecord.has(error.code))
      return { told: `not written: ${error.message}`, isWritten: false }
    throw error
  }
}

/** What keeps a record from being written, and not the others. */
const ofThisRecord = new Set<ErrorCode>(['bus.topic-missing', 'bus.record-too-large'])

/** Throws `usage` where nothing or too much is named. */
function assertNamed(places: string[], isAll: boolean): void {
  if (places.length > 0 === isAll)
    throw new WeirError(
      'usage',
      isAll
        ? '--all and places are both given: give one of them'
        : 'name dead letters by PARTITION/OFFSET, or give --all',
    )
}
