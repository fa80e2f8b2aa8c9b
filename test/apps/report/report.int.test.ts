// The output of the command for an incomplete log, and for a bundle of it.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { exportBundle } from '../../../apps/bundles/export/export.ts'
import { report } from '../../../apps/report/report.ts'
import { importTranscript } from '../../../apps/transcripts/import-transcript.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import type { TopicName } from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { modelRequest, userMessage } from '../../support/messages.ts'
import { output } from '../../support/output.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-report-'))
const settings = readSettings({ dataFolder: folder }, {})
const page = join(folder, 'report.html')
const file = join(folder, 'incident.weir')

async function outputOf(conversation: string | undefined, bundle?: string): Promise<string> {
  const { stream, text } = output()
  await report(
    {
      settings,
      bundle,
      options: { ...(conversation !== undefined && { conversation }), output: page, force: true },
    },
    stream,
  )
  return text()
}

describe('weir report of an incomplete log', () => {
  beforeAll(async () => {
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    await bus.ensureTopics(topicSpecs('weir.', 1))
    const write = (topic: TopicName, message: Message) =>
      bus.append([toRecord({ topic: `weir.${topic}`, partition: 0, message })])
    await write('conversation-events', userMessage({ conversation: 'open', messageId: 'm1' }))
    await write('activity', {
      type: 'turn-started',
      parent: null,
      conversation: 'open',
      turn: 0,
      messageId: 'm1',
      agent: 'agent',
    })
    await write('conversation-events', userMessage({ conversation: 'cut', messageId: 'm2' }))
    await write('activity', {
      type: 'round-started',
      conversation: 'cut',
      turn: 0,
      round: 3,
      callsLeft: 9,
      nudged: false,
      caps: null,
      key: '',
      turnKey: '',
    })
    await write('model-requests', modelRequest({ conversation: 'cut', turn: 0, round: 3 }))
    const totals = { rounds: 3, calls: 2, inputTokens: 1, outputTokens: 1, wallMs: 1 }
    const how = {
      outcome: 'answered',
      reason: 'the model answered',
      class: null,
      cap: null,
      reply: 'done',
    } as const
    await write('activity', {
      type: 'turn-finished',
      conversation: 'cut',
      turn: 0,
      messageId: 'm0',
      ...how,
      totals,
    })
    await write('activity', {
      type: 'round-started',
      conversation: 'gone',
      turn: 0,
      round: 3,
      callsLeft: 9,
      nudged: false,
      caps: null,
      key: '',
      turnKey: '',
    })
    await bus.close()
    await exportBundle({ output: file, conversation: ['open', 'cut'] }, settings, output().stream)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each([
    ['the log', undefined],
    ['a bundle of it', file],
  ])('of %s names the open turns and those with a deleted beginning', async (_, bundle) => {
    expect(await outputOf('open', bundle)).toMatch(
      /: 1 conversation, 0 rounds, \d+ kB; 1 turn had not ended\. Open it in a browser\.\n$/,
    )
    expect(readFileSync(page, 'utf8')).toContain(
      'Still running when the log was read: no request to the model yet',
    )
    expect(await outputOf('cut', bundle)).toMatch(
      /: 1 conversation, 1 round, \d+ kB; the log no longer has the beginning of 1 turn\. Open/,
    )
    expect(readFileSync(page, 'utf8')).toContain('"isWhole":false')
  })

  it('leaves out conversations with only their activity left, and shows their number', async () => {
    expect(await outputOf(undefined)).toMatch(
      /: 2 conversations, .*; of 1 older conversation nothing is left to show\. Open it in a browser\.\n$/,
    )
    expect(readFileSync(page, 'utf8')).not.toContain('gone')
    await expect(outputOf('gone')).rejects.toThrow(
      'the conversation gone has only its activity left: its other records were deleted',
    )
  })
})

describe('weir report of an imported transcript', () => {
  const file = join(folder, 'transcript.json')
  const text = (role: 'user' | 'assistant', content: string) => ({ role, content })

  beforeAll(() => mkdirSync(folder))
  afterAll(() => {
    jest.restoreAllMocks()
    rmSync(folder, { recursive: true })
  })

  it.each([
    ['before the first request to the model', [text('assistant', 'Hi.'), text('user', 'And now?')]],
    [
      'in a call',
      [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'exec', input: {} }],
        },
      ],
    ],
  ])('does not use the time of the import as the end of an open turn, %s', async (_, more) => {
    const bundle = join(folder, 'transcript.weir')
    let now = Date.now()
    jest.spyOn(systemClock, 'now').mockImplementation(() => {
      now += 3_600_000
      return now
    })
    writeFileSync(file, JSON.stringify([text('user', 'hello'), ...more]))
    await importTranscript(
      file,
      { format: 'anthropic', output: bundle, force: true },
      output().stream,
    )
    await outputOf(undefined, bundle)
    const [, data = ''] =
      /<script[^>]*id="data-0"[^>]*>([^<]*)</.exec(readFileSync(page, 'utf8')) ?? []
    const { figures, timeline } = JSON.parse(data)
    expect(timeline.turns.at(-1).end).toBeNull()
    expect(figures.ms).toBeLessThan(1_000)
  })
})
