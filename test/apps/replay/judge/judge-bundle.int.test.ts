// `weir judge` of a bundle that begins in the middle of a turn.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { judgeFile } from '../../../../apps/replay/judge/judge.ts'
import { openBundle } from '../../../../shared/bus/bundle/bus.ts'
import { createBundle } from '../../../../shared/bus/bundle/writer.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { output } from '../../../support/output.ts'
import { bundleFile } from '../bundled-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-judge-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The kept bundle of I1 after retention: its turn is marked as cut. */
async function cutBundle(): Promise<{ file: string; turn: number }> {
  const file = join(folder, 'cut.weir')
  const from = await openBundle(bundleFile('i1-reflex-loop'), systemClock)
  const to = createBundle(file)
  for (const { name, kind } of from.topics()) {
    to.topic(name, kind)
    const topic = from.facts.topicPrefix + name
    for (const { partition, end } of await from.bus.ends(topic))
      for (const record of await from.bus.read({
        topic,
        partition,
        from: 0,
        to: end,
        limit: 10_000,
      }))
        to.add({ ...record, topic: name })
  }
  const turns = [...from.turns()]
  for (const turn of turns) to.turn({ ...turn, whole: false })
  await to.finish(from.facts)
  await from.bus.close()
  return { file, turn: turns[0]?.turn ?? Number.NaN }
}

describe('weir judge of a bundle', () => {
  it('names the turns without their beginning, and prints nothing if all are whole', async () => {
    const { file, turn } = await cutBundle()
    const [whole, cut, json] = [output(), output(), output()]
    await judgeFile(bundleFile('i1-reflex-loop'), {}, whole.stream)
    await judgeFile(file, {}, cut.stream)
    await judgeFile(file, { json: true }, json.stream)
    expect(whole.text()).not.toContain('the beginning')
    expect(cut.text()).toContain(
      'judged from the middle: the log no longer has the beginning of turn 1,',
    )
    expect(JSON.parse(json.text())).toMatchObject({ id: 'i1-reflex-loop', cutTurns: [turn] })
  })
})
