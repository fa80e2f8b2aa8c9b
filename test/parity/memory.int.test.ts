// A guard in memory gives the same advice and the same verdicts, word for word, as a guard on a log.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { type GuardOptions, openGuard } from '../../client/guard/guard.ts'
import { type GuestFormat, guestFormats } from '../../client/guard/guest-conversation.ts'
import type { Transcript } from '../../shared/transcript/transcript.ts'
import { answerOf, requestOf } from '../support/guest-requests.ts'
import { corpora, tracesIn, transcriptFor } from '../support/traces.ts'
import { waitMaxMs } from '../support/wait-limit.ts'
import { turn } from './comparison.ts'
import { stepsOf } from './core-drivers.ts'

async function answersTo(
  transcripts: readonly Transcript[],
  format: GuestFormat,
  place: Pick<GuardOptions, 'dataFolder' | 'record'>,
): Promise<unknown[][]> {
  await using guard = await openGuard({ agent: 'coder', answerWithinMs: waitMaxMs, ...place })
  const all: unknown[][] = []
  for (const [n, transcript] of transcripts.entries()) {
    const conversation = guard.conversation(`${n} ${transcript.conversation}`)
    const answers: unknown[] = []
    for (const { before, said } of stepsOf(transcript)) {
      const request = requestOf(format, before, transcript.tools)
      answers.push(await conversation.beforeModel(request))
      if (said !== undefined) answers.push(await conversation.afterModel(answerOf(request, said)))
    }
    all.push(answers)
  }
  return all
}

const cases = corpora.flatMap((file, at) =>
  turn(guestFormats, at).flatMap((format) =>
    turn(['all', 'calls'] as const, at).map((record) => ({ ...file, format, record })),
  ),
)

it.each(cases)('the traces of $name in the format $format, recording $record', async (file) => {
  const { format, record } = file
  const transcripts = tracesIn(file).traces.map(transcriptFor)
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-parity-'))
  try {
    const onLog = await answersTo(transcripts, format, { record, dataFolder })
    const inMemory = await answersTo(transcripts, format, { record })
    expect(inMemory).toEqual(onLog)
    expect(onLog.flat().length).toBeGreaterThan(0)
  } finally {
    rmSync(dataFolder, { recursive: true })
  }
})
