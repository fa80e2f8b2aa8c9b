// A guard in memory gives the same advice and the same verdicts, word for word, as a guard on a log. The
// clock moves by seconds with each request, because a rule judges how fast an agent looks again. A third of
// the traces is shown (comparison.ts).

import { expect, it } from '@jest/globals'
import type { GuardOptions } from '../../client/guard/guard.ts'
import type { GuestFormat } from '../../client/guard/guest-conversation.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import type { Transcript } from '../../shared/transcript/transcript.ts'
import { formatNames } from '../../shared/wire/formats.ts'
import { answerOf, requestOf } from '../support/guest-requests.ts'
import { corpora, tracesIn, transcriptFor } from '../support/traces.ts'
import { partOf, turn } from './comparison.ts'
import { stepsOf } from './core-drivers.ts'
import { openMemoryWorld, openParityWorld } from './driver.ts'

type Case = { format: GuestFormat; record: GuardOptions['record']; betweenMs: number }

async function answersTo(
  transcripts: readonly Transcript[],
  open: typeof openParityWorld,
  { format, record, betweenMs }: Case,
): Promise<unknown[][]> {
  let now = 1_700_000_000_000
  const world = await open({ ...systemClock, now: () => now })
  const [guard] = world.guards({}, { mode: 'blocking', record })
  const all: unknown[][] = []
  for (const [n, transcript] of transcripts.entries()) {
    const conversation = guard.conversation(`${n} ${transcript.conversation}`)
    const answers: unknown[] = []
    for (const { before, said } of stepsOf(transcript)) {
      const request = requestOf(format, before, transcript.tools)
      now += betweenMs
      answers.push(await conversation.beforeModel(request))
      if (said !== undefined) answers.push(await conversation.afterModel(answerOf(request, said)))
    }
    all.push(answers)
  }
  await world.close()
  return all
}

const cases = corpora.flatMap((file, at) =>
  turn(formatNames, at).flatMap((format) =>
    turn(['all', 'calls'] as const, at).map((record) => {
      const betweenMs = at % 3 === 0 ? 20 : 3_000
      return { ...file, at, format, record, betweenMs }
    }),
  ),
)

it.each(cases)('the traces of $name in the format $format, recording $record', async (file) => {
  const transcripts = partOf(tracesIn(file).traces, { from: file.at, of: 3 }).map(transcriptFor)
  const onLog = await answersTo(transcripts, openParityWorld, file)
  const inMemory = await answersTo(transcripts, openMemoryWorld, file)
  expect(inMemory).toEqual(onLog)
})
