// `weir report` from a shell: on a data folder, on a bundle, and with impossible arguments.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { ReportData, ReportIndex } from '../../apps/report/page/data.ts'
import { type CommandFolder, type Ended, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
const at = ['--data-folder', 'data']
const report = (...args: string[]): Promise<Ended> => commands.run(['report', ...args])
const page = (name: string) => readFile(join(commands.folder, name), 'utf8')

function dataIn<T>(html: string, id: string): T {
  const [, json = 'null'] =
    new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`).exec(html) ?? []
  return JSON.parse(json)
}

describe('weir report', () => {
  beforeAll(async () => {
    commands = await openCommandFolder((call, number) => {
      const isWarned = JSON.stringify(call.system ?? '').includes('SYSTEM INTERVENTION')
      const isLoop = JSON.stringify(call.messages[0]).includes('list')
      if (isLoop && !isWarned)
        return {
          kind: 'message',
          blocks: [{ kind: 'call', id: `toolu_${number}`, name: 'exec', arguments: '{}' }],
        }
      return { kind: 'message', blocks: [{ kind: 'text', text: 'Which </script> command?' }] }
    })
    for (const [conversation, text] of [
      ['looping-1', 'list the files'],
      ['quick-2', 'hello'],
    ] as const)
      await commands.run([
        'ask',
        '--agent',
        'agent.yaml',
        ...at,
        '--conversation',
        conversation,
        text,
      ])
  })
  afterAll(() => commands.close())

  it('makes one page of a conversation, and prints its path', async () => {
    const { code, out, errors } = await report(
      ...at,
      '--conversation',
      'looping-1',
      '-o',
      'one.html',
    )
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(out).toMatch(/^one\.html: 1 conversation, 4 rounds, \d+ kB\. Open it in a browser\.\n$/)
    const html = await page('one.html')
    expect(html).toContain(
      'once Weir had stopped a loop: the model kept making the same failing call, <code>exec({})</code>; 3 of 4 rounds (75 %)',
    )
    const { timeline } = dataIn<ReportData>(html, 'data-0')
    expect(timeline.turns[0]?.loops).toMatchObject([{ from: 1, to: 3, rule: 'identical-failure' }])
    expect(timeline.turns[0]?.rounds[2]?.streaks).toContainEqual({
      rule: 'identical-failure',
      what: 'exec({})',
      before: 2,
      after: 3,
      action: 'nudge',
    })
    expect(html).not.toContain(commands.folder)
  })

  it('makes one page of all conversations, of a bundle too, and it is the same', async () => {
    expect((await report(...at, '-o', 'all.html')).code).toBe(0)
    expect((await commands.run(['export', ...at, '-o', 'incident.weir'])).code).toBe(0)
    expect(await report('incident.weir', '-o', 'bundle.html')).toMatchObject({
      code: 0,
      errors: '',
    })
    const [all, bundle] = [await page('all.html'), await page('bundle.html')]
    expect(dataIn<ReportIndex>(bundle, 'index')).toMatchObject({
      source: 'the bundle incident.weir',
      conversations: [
        { conversation: 'quick-2', place: 0 },
        { conversation: 'looping-1', place: 1 },
      ],
    })
    expect(dataIn(bundle, 'data-1')).toEqual(dataIn(all, 'data-1'))
  })

  it('shows one turn alone', async () => {
    expect(
      (await report(...at, '--conversation', 'looping-1', '--turn', '1', '-o', 'turn.html')).code,
    ).toBe(0)
    const unknown = await report(
      ...at,
      '--conversation',
      'looping-1',
      '--turn',
      '99',
      '-o',
      'other.html',
    )
    expect(unknown).toMatchObject({
      code: 2,
      errors: 'weir: conversation looping-1 has no turn 99; its turns are 1\n',
    })
    expect(await report(...at, '--turn', '1', '-o', 'other.html')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('--turn needs --conversation'),
    })
  })

  it('overwrites no file without --force', async () => {
    await writeFile(join(commands.folder, 'mine.html'), 'mine')
    const refused = await report(...at, '-o', 'mine.html')
    expect(refused.code).toBe(2)
    expect(refused.errors).toContain(
      'mine.html exists already: name another file, or overwrite it with --force',
    )
    expect(await page('mine.html')).toBe('mine')
    expect((await report(...at, '-o', 'mine.html', '--force')).code).toBe(0)
    expect(await page('mine.html')).toContain('<!doctype html>')
  })

  it('suggests the nearest conversation, and reports a file that it cannot write', async () => {
    const unknown = await report(...at, '--conversation', 'looping-2', '-o', 'none.html')
    expect(unknown.code).toBe(1)
    expect(unknown.errors).toContain('there is no conversation looping-2; did you mean looping-1')
    const nowhere = await report(...at, '-o', 'no/such/folder/x.html')
    expect(nowhere.code).toBe(2)
    expect(nowhere.errors).toContain('no/such/folder/x.html cannot be written (ENOENT)')
    expect(await report('absent.weir', '-o', 'none.html')).toMatchObject({
      code: expect.any(Number),
      errors: expect.stringContaining('absent.weir'),
    })
  })
})
