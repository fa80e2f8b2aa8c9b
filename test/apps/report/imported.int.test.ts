// The page of an imported transcript. It shows no made-up fact as real, and marks Weir's
// hypothetical intervention as such.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import type { Phrase, ReportData } from '../../../apps/report/page/data.ts'
import { report } from '../../../apps/report/report.ts'
import { importTranscript } from '../../../apps/transcripts/import-transcript.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { findChromium, openChromium } from '../../support/chromium.ts'
import { output } from '../../support/output.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-report-imported-'))
const page = join(folder, 'report.html')
const program = findChromium()
const inBrowser = program === undefined ? it.skip : it
afterAll(() => rmSync(folder, { recursive: true }))

type Said = { role: 'user' | 'assistant'; content: unknown }
const user = (content: unknown): Said => ({ role: 'user', content })
const assistant = (content: unknown): Said => ({ role: 'assistant', content })
const calling = (id: string, command: string) =>
  assistant([{ type: 'tool_use', id, name: 'bash', input: { command } }])
const failing = (id: string) =>
  user([{ type: 'tool_result', tool_use_id: id, is_error: true, content: 'Exit code 1' }])

async function reported(messages: Said[]): Promise<ReportData> {
  const [file, bundle] = [join(folder, 'transcript.json'), join(folder, 'transcript.weir')]
  writeFileSync(file, JSON.stringify(messages))
  await importTranscript(
    file,
    { format: 'anthropic', output: bundle, force: true },
    output().stream,
  )
  await report(
    {
      settings: readSettings({ dataFolder: folder }, {}),
      bundle,
      options: { output: page, force: true },
    },
    output().stream,
  )
  const [, data = ''] =
    /<script[^>]*id="data-0"[^>]*>([^<]*)</.exec(readFileSync(page, 'utf8')) ?? []
  return JSON.parse(data)
}

const sentenceText = ({ sentence }: ReportData) =>
  sentence.map((phrase: Phrase) => (typeof phrase === 'string' ? phrase : phrase.code)).join('')

const looping = ['a', 'b', 'c', 'd'].flatMap((id) => [calling(id, 'npm test'), failing(id)])

describe('the report of an imported transcript', () => {
  it('has no times, but the calls with a result and the round at which Weir would have stepped in', async () => {
    const talk = [
      user('hello'),
      assistant('Hi.'),
      user('fix the tests'),
      ...looping,
      assistant('I cannot.'),
    ]
    const data = await reported(talk)
    expect(sentenceText(data)).toBe(
      'Both turns ended with an answer. Weir would have stepped in after round 3 of turn 2.',
    )
    expect(
      data.timeline.turns.map((turn) => sentenceText({ ...data, ...turn } as ReportData)),
    ).toEqual(['The agent answered after 1 round.', 'The agent answered after 5 rounds.'])
    expect(data.figures).toMatchObject({ ms: 0, rounds: 6, calls: 4, ran: 4, stopped: 0 })
    expect(data.imported).toEqual({
      wouldHave: {
        turn: 1,
        round: 3,
        action: 'nudge',
        rule: expect.stringMatching(/^identical-failure@/),
        reason: 'bash({"command":"npm test"}) failed in 3 rounds, last with: Exit code 1',
      },
    })
  })

  it('shows that Weir would not have stepped in, and how the transcript left a turn', async () => {
    const data = await reported([
      user('look'),
      calling('a', 'ls'),
      failing('a'),
      calling('b', 'ls -l'),
      user('never mind'),
    ])
    expect(data.imported).toEqual({ wouldHave: null })
    expect(data.figures).toMatchObject({ calls: 2, ran: 1 })
    expect(
      data.timeline.turns.map((turn) => sentenceText({ ...data, ...turn } as ReportData)),
    ).toEqual([
      'The transcript goes on to the next message in round 2, without an answer.',
      'The transcript ends in round 1, without an answer.',
    ])
  })

  it("is in the index under Weir's hypothetical intervention or the end of the transcript, and never as open", async () => {
    const group = async (messages: Said[]) => {
      await reported(messages)
      const [, index = ''] =
        /<script[^>]*id="index"[^>]*>([^<]*)</.exec(readFileSync(page, 'utf8')) ?? []
      const [{ group, openTurns, from, ms }] = JSON.parse(index).conversations
      expect({ openTurns, from, ms }).toEqual({ openTurns: 0, from: null, ms: null })
      return group
    }
    expect(await group([user('fix the tests'), ...looping, assistant('I cannot.')])).toBe(
      'imported',
    )
    expect(await group([user('fix the tests'), calling('a', 'ls')])).toBe('limited')
    expect(await group([user('hello'), assistant('Hi.')])).toBe('answered')
  })

  inBrowser(
    'is marked as imported at its top, without an axis of time and without durations',
    async () => {
      await reported([user('fix the tests'), ...looping, assistant('I cannot.')])
      const browser = await openChromium(program ?? '')
      try {
        await browser.open(page)
        await browser.evaluate(
          'document.querySelectorAll(".round-head").forEach((one) => one.click())',
        )
        const text = await browser.evaluate<string>('document.querySelector("#page").innerText')
        expect(text).toContain('Imported from a transcript; its times are made up')
        expect(text).toContain('Weir would have stepped in after round 3.')
        expect(text).toContain('By its defaults Weir would have stepped in by identical-failure@')
        expect(text).toContain('all of them have a result')
        expect(text).not.toContain('no loop was found')
        expect(text).not.toMatch(/\d (?:ms|s)\b/)
        expect(await browser.evaluate('document.querySelector(".chart")')).toBeNull()
        expect(browser.problems).toEqual([])
      } finally {
        await browser.close()
      }
    },
  )
})
