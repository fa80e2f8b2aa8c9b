// A bundle of the newer turns of a conversation has the history of older turns, because requests
// read it. The commands must not show that history as turns.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { listConversations } from '../../../../apps/history/conversations/conversations.ts'
import { inspect } from '../../../../apps/history/inspect/inspect.ts'
import { judgeFile } from '../../../../apps/replay/judge/judge.ts'
import { report } from '../../../../apps/report/report.ts'
import { openBundle } from '../../../../shared/bus/bundle/bus.ts'
import { createBundle } from '../../../../shared/bus/bundle/writer.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import { messageOf } from '../../../../shared/codec/message-of.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { output } from '../../../support/output.ts'
import { bundleFile } from '../../replay/bundled-log.ts'

const name = 'i1-reflex-loop'
const earlier = -7
const folder = mkdtempSync(join(tmpdir(), 'weir-left-out-'))
const file = join(folder, 'newer.weir')
const page = join(folder, 'page.html')
const settings = readSettings({ dataFolder: folder }, {})

/**
 * The kept bundle, with the history of a turn before its only one: a copy of its history under an
 * earlier number.
 */
async function withContext(): Promise<void> {
  const from = await openBundle(bundleFile(name), systemClock)
  const to = createBundle(file)
  for (const topic of from.topics()) {
    to.topic(topic.name, topic.kind)
    for (const { partition, end } of await from.bus.ends(from.facts.topicPrefix + topic.name)) {
      const all = {
        topic: from.facts.topicPrefix + topic.name,
        partition,
        from: 0,
        to: end,
        limit: 10_000,
      }
      for (const record of await from.bus.read(all)) {
        to.add({ ...record, topic: topic.name })
        const message = messageOf(record.value)
        if (message?.type !== 'history-entry') continue
        const [id, , ...rest] = JSON.parse(record.key)
        const before = { ...message, turn: earlier }
        const place = {
          offset: record.offset + end,
          id: `${record.id} earlier`,
          key: JSON.stringify([id, earlier, ...rest]),
        }
        to.add({ ...record, ...place, topic: topic.name, value: encode(before) })
      }
    }
  }
  for (const turn of from.turns()) to.turn(turn)
  await to.finish(from.facts)
  await from.bus.close()
}

beforeAll(withContext)
afterAll(() => rmSync(folder, { recursive: true }))

async function inspected(bundle: string): Promise<string> {
  const { stream, text } = output()
  await inspect(name, settings, { bundle }, stream)
  return text()
}

async function judged(bundle: string): Promise<string> {
  const { stream, text } = output()
  await judgeFile(bundle, {}, stream)
  return text()
}

describe('a turn with only its history in a bundle', () => {
  it('is not shown by weir inspect, which reports it in one line', async () => {
    const left = '\nNot in the bundle: 1 earlier turn, with only the history as context\n'
    const alone = await inspected(bundleFile(name))
    // It has its number although it is not shown.
    expect(await inspected(file)).toBe(`${alone.replace('Turn 1,', 'Turn 2,')}${left}`)
  })

  it('is not shown by weir report', async () => {
    const { stream, text } = output()
    await report({ settings, bundle: file, options: { output: page } }, stream)
    expect(text()).not.toMatch(/not ended|beginning/)
    const [, data = ''] =
      /<script[^>]*id="data-0"[^>]*>([^<]*)</.exec(readFileSync(page, 'utf8')) ?? []
    const { timeline } = JSON.parse(data)
    expect(timeline).toMatchObject({ state: 'idle', turns: [{ isWhole: true }] })
  })

  it('is not counted by weir conversations', async () => {
    const listed = async (bundle: string) => {
      const { stream, text } = output()
      await listConversations(settings, { bundle, limit: '10' }, stream)
      return text()
    }
    expect(await listed(file)).toBe(await listed(bundleFile(name)))
  })

  it('is not counted by weir judge', async () => {
    expect(await judged(file)).toBe(await judged(bundleFile(name)))
  })
})
