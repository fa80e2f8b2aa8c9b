// A bundle of a real run becomes a log, and Weir goes on there.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { exportBundle } from '../../../../apps/bundles/export/export.ts'
import { importBundle } from '../../../../apps/bundles/import/import.ts'
import { type OpenLog, withLog } from '../../../../apps/history/open-log.ts'
import { replay } from '../../../../apps/replay/replay.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { importLog } from '../../../../shared/bus/embedded/import.ts'
import type { StoredRecord } from '../../../../shared/contract/bus.ts'
import { type TopicName, topics } from '../../../../shared/contract/topology.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { readSettings, type Settings } from '../../../../shared/settings/settings.ts'
import { output } from '../../../support/output.ts'
import { type PipelineOptions, withPipeline } from '../../../support/pipeline.ts'
import { call, says, text, textsOf } from '../../../support/script.ts'

let folder: string
let bundle: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-import-'))
  bundle = join(folder, 'a.weir')
})
afterEach(() => rmSync(folder, { recursive: true }))

const model: PipelineOptions['model'] = ({ messages }) =>
  JSON.stringify(messages).includes('tool_result')
    ? says(text('done'))
    : says(call('exec', { command: 'ls' }))

const settingsIn = (dataFolder: string): Settings => readSettings({ dataFolder }, {})

async function recordsIn(log: OpenLog): Promise<StoredRecord[]> {
  const found: StoredRecord[] = []
  for (const topic of Object.keys(topics) as TopicName[])
    for (const { partition, end } of await log.bus.ends(log.topicPrefix + topic))
      found.push(
        ...(await log.bus.read({
          topic: log.topicPrefix + topic,
          partition,
          from: 0,
          to: end,
          limit: 100_000,
        })),
      )
  return found
}

describe('weir import', () => {
  it('writes the same records, and a conversation goes on without repeating anything', async () => {
    const openBus = (at: string) =>
      openEmbeddedBus({ file: join(at, 'weir.db'), clock: systemClock })
    await withPipeline(
      { model, openBus: () => openBus(join(folder, 'first')) },
      async ({ ask }) => {
        await ask('hello', { conversation: 'other' })
        await ask('hello', { conversation: 'c' })
        await exportBundle(
          { output: bundle, conversation: ['c'] },
          settingsIn(join(folder, 'first')),
          output().stream,
        )
      },
    )
    const { stream, text: told } = output()
    expect(await importBundle(bundle, settingsIn(join(folder, 'second')), stream)).toBe(0)
    expect(told()).toContain("in 2 partitions with the prefix 'weir.'")
    expect(readdirSync(join(folder, 'second'))).toEqual(['weir.db'])
    const imported = await withLog(settingsIn(join(folder, 'second')), recordsIn)
    expect(imported).toEqual(await withLog(settingsIn(folder), recordsIn, { bundle }))
    expect(imported.length).toBeGreaterThan(20)

    await withPipeline(
      { model, openBus: () => openBus(join(folder, 'second')) },
      async ({ ask, server, starts }) => {
        const { finished } = await ask('go on', { conversation: 'c' })
        expect(finished.outcome).toBe('answered')
        expect(textsOf(server.requests[0])).toEqual(['hello', 'done', 'go on'])
        expect(server.requests).toHaveLength(1)
        expect(await starts()).toEqual([])
      },
    )
  })

  it('replays without differences if earlier turns are missing, also after new turns', async () => {
    const openBus = (at: string) =>
      openEmbeddedBus({ file: join(at, 'weir.db'), clock: systemClock })
    await withPipeline(
      { model, openBus: () => openBus(join(folder, 'first')) },
      async ({ ask }) => {
        await ask('hello', { conversation: 'c' })
        await new Promise((resolve) => setTimeout(resolve, 5))
        const since = new Date(systemClock.now()).toISOString()
        await ask('and now', { conversation: 'c' })
        await exportBundle(
          { output: bundle, since },
          settingsIn(join(folder, 'first')),
          output().stream,
        )
      },
    )
    const settings = settingsIn(join(folder, 'second'))
    await importBundle(bundle, settings, output().stream)
    const replayed = async () => {
      const { stream, text: told } = output()
      await replay(undefined, { json: true }, settings, stream)
      return JSON.parse(told()) as { differences: number; turns: number; unjudged: number }
    }
    expect(await replayed()).toMatchObject({
      differences: 0,
      turns: 1,
      unjudged: expect.any(Number),
    })
    expect((await replayed()).unjudged).toBeGreaterThan(0) // the history of the first turn, which the second one read
    await withPipeline(
      { model, openBus: () => openBus(join(folder, 'second')) },
      async ({ ask }) => {
        await ask('go on', { conversation: 'c' })
        await ask('hello', { conversation: 'another' })
      },
    )
    expect(await replayed()).toMatchObject({ differences: 0, turns: 3 })
  })

  it('leaves the folder unchanged if it is stopped', async () => {
    const noMore = async function* (): AsyncGenerator<StoredRecord[]> {
      expect(readdirSync(folder)).toEqual(expect.arrayContaining(['new']))
      yield []
      throw new Error('interrupted')
    }
    const importing = (file: string) =>
      importLog({
        file,
        clock: systemClock,
        topics: [],
        batches: noMore(),
        commits: [],
        note: { whole: [], from: [] },
      })
    await expect(importing(join(folder, 'new', 'deep', 'weir.db'))).rejects.toThrow('interrupted')
    expect(readdirSync(folder)).toEqual([])
    mkdirSync(join(folder, 'new'))
    await expect(importing(join(folder, 'new', 'weir.db'))).rejects.toThrow('interrupted')
    expect(readdirSync(join(folder, 'new'))).toEqual([])
  })

  it('refuses a data folder with a log and a file that is no bundle, and writes nothing', async () => {
    await (await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })).close()
    await expect(importBundle(bundle, settingsIn(folder), output().stream)).rejects.toMatchObject({
      code: 'output.exists',
    })
    const elsewhere = join(folder, 'new')
    await expect(
      importBundle(bundle, settingsIn(elsewhere), output().stream),
    ).rejects.toMatchObject({ code: 'bundle.invalid' })
    expect(existsSync(elsewhere)).toBe(false)
  })
})
