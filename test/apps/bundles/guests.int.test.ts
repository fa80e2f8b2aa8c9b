// Commands on the log of a guest, and on its bundle: its turns open in guest-events.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pino from 'pino'
import { exportBundle } from '../../../apps/bundles/export/export.ts'
import { importBundle } from '../../../apps/bundles/import/import.ts'
import { judgeFile } from '../../../apps/replay/judge/judge.ts'
import { replay } from '../../../apps/replay/replay.ts'
import { report } from '../../../apps/report/report.ts'
import { openGuard } from '../../../client/guard/guard.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import { stagesOfGuests } from '../../../client/guard/log/bus-front.ts'
import { frontsOn } from '../../../client/guard/log/fronts.ts'
import { runHere } from '../../../client/place/run-here.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { readSettings, type Settings } from '../../../shared/settings/settings.ts'
import { answerOf, requestOf, saidCall, saidText, type Turn } from '../../support/guest-requests.ts'
import { output } from '../../support/output.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-guests-'))
const settings = readSettings({ dataFolder: folder }, {})
const file = join(folder, 'guests.weir')
const lost = 'no longer has the beginning'

const look = saidCall('exec', { command: 'ls' }, { id: 'c', result: 'a.ts' })
const first: Turn = { user: 'Look.', responses: [look, saidText('Done.')] }

/** Two turns of a guest: the second request ends the first turn. */
beforeAll(async () => {
  const guard = await openGuard({ agent: 'coder', dataFolder: folder, answerWithinMs: waitMaxMs })
  try {
    const conversation = guard.conversation('t')
    for (const turns of [
      [{ user: 'Look.', responses: [] }],
      [{ user: 'Look.', responses: [look] }],
      [first, { user: 'Again.', responses: [] }],
      [first, { user: 'Again.', responses: [look] }],
    ]) {
      const request = requestOf('anthropic', turns)
      await conversation.beforeModel(request)
      const isFirst = turns.at(-1)?.responses.length === 0
      await conversation.afterModel(answerOf(request, isFirst ? look : saidText('Done.')))
    }
    await conversation.beforeModel(
      requestOf('anthropic', [
        first,
        { ...first, user: 'Again.' },
        { user: 'Bye.', responses: [] },
      ]),
    )
  } finally {
    await guard.close()
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function exported(options: { since?: string } = {}): Promise<string> {
  const { stream, text } = output()
  expect(await exportBundle({ output: file, force: true, ...options }, settings, stream)).toBe(0)
  return text()
}

async function reported(bundle?: string): Promise<string> {
  const { stream, text } = output()
  const options = { output: join(folder, 'report.html'), force: true }
  await report({ settings, bundle, options }, stream)
  return text()
}

async function replayed(bundle?: string, of = settings): Promise<string> {
  const { stream, text } = output()
  expect(await replay(bundle, {}, of, stream)).toBe(0)
  return text()
}

describe('the log of a guest', () => {
  it('has whole turns in weir report, weir export and weir replay', async () => {
    expect(await reported()).not.toContain(lost)
    const text = await exported()
    expect(text).toContain('1 conversation, 3 turns')
    expect(text).not.toContain(lost)
    expect(await replayed()).toContain('3 turns')
  })

  it('can be exported by time', async () => {
    const text = await exported({ since: '1d ago' })
    expect(text).toContain('1 conversation, 3 turns')
    expect(text).not.toContain(lost)
    expect(await replayed(file)).toContain('3 turns')
  })
})

describe('the bundle of a guest', () => {
  it('has whole turns in weir report, weir replay and weir judge', async () => {
    await exported()
    expect(await reported(file)).not.toContain(lost)
    const text = await replayed(file)
    expect(text).toContain('3 turns')
    expect(text).not.toContain('not judged')
    const { stream, text: judged } = output()
    expect(await judgeFile(file, {}, stream)).toBe(0)
    expect(judged()).toContain('1 scenario')
    expect(judged()).not.toContain(lost)
  })

  it('becomes a log in which the guest goes on, and weir replay judges all its turns', async () => {
    const bundle = join(folder, 'no-users.weir')
    await exportBundle({ output: bundle }, settings, output().stream)
    const imported = readSettings({ dataFolder: join(folder, 'imported') }, {})
    expect(await importBundle(bundle, imported, output().stream)).toBe(0)
    expect(await replayed(undefined, imported)).toContain('3 turns')
    await withGuests(imported, async (conversation) => {
      const request = requestOf('anthropic', [{ user: 'Once more.', responses: [look] }])
      expect((await conversation('t').beforeModel(request)).judged).toBe(true)
      expect((await conversation('new').beforeModel(request)).judged).toBe(true)
    })
    const text = await replayed(undefined, imported)
    expect(text).toContain('5 turns')
    expect(text).not.toContain('not judged')
  })
})

/** A front on a log that its owner trusts, with the stages of guests. */
async function withGuests(
  { dataFolder, topicPrefix, partitions }: Settings,
  work: (conversation: (id: string) => GuestConversation) => Promise<void>,
): Promise<void> {
  const log = pino({ level: 'silent' })
  const bus = await openEmbeddedBus({ file: join(dataFolder, 'weir.db'), clock: systemClock })
  const place = { bus, topicPrefix, partitions, log }
  const stages = await runHere(
    {
      ...place,
      agents: new Map(),
      instruments: undefined,
      names: stagesOfGuests,
      retentionMs: 60 * 60 * 1000,
    },
    {},
  )
  const fronts = frontsOn(place)
  try {
    await work(fronts.front({ agent: 'coder', answerWithinMs: waitMaxMs }).conversation)
  } finally {
    await stages.close()
    fronts.close()
    await bus.close()
  }
}
