// The progress of stages on the embedded bus. test/apps/service/reset/reset.int.test.ts has Kafka.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openLog } from '../../../apps/history/open-log.ts'
import { stageProgress } from '../../../apps/service/stage-progress.ts'
import { says, scriptedModel } from '../../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../../client/weir.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { logFileIn } from '../../../shared/bus/embedded/file/log-file.ts'
import { encode } from '../../../shared/codec/codec.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { until } from '../../support/inbox.ts'
import { cancel } from '../../support/messages.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-progress-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function progressOf(stage: string) {
  const settings = readSettings({ dataFolder: folder }, {})
  const log = await openLog(settings)
  try {
    return (await stageProgress(log, settings)).find((one) => one.stage === stage)
  } finally {
    await log.bus.close()
  }
}

describe('the progress of the stages', () => {
  it('has unread records with the time of the oldest, and none once a process has read them', async () => {
    const bus = await openEmbeddedBus({ file: logFileIn(folder), clock: systemClock })
    await bus.ensureTopics(topicSpecs('weir.', 2))
    const record = { topic: 'weir.rounds-checked', partition: 1, key: 'c', value: encode(cancel()) }
    const [first] = await bus.append([record, record])
    await bus.close()
    expect(await progressOf('loop-detector')).toEqual({
      stage: 'loop-detector',
      isRunning: false,
      behind: 2,
      oldestAt: first?.time,
    })
    expect(await progressOf('validator')).toMatchObject({ behind: 0, oldestAt: null })

    const agent = defineAgent({
      name: 'helper',
      model: scriptedModel(says('Hi.')),
      system: 'Help.',
    })
    const log = pino({ level: 'silent' })
    const weir = await Weir.open({ agents: [agent], dataFolder: folder, partitions: 2, log })
    let now = await progressOf('loop-detector')
    await until(async () => {
      now = await progressOf('loop-detector')
      return now?.behind === 0
    })
    expect(now).toMatchObject({ isRunning: true, oldestAt: null })
    await weir.close()
  })
})
