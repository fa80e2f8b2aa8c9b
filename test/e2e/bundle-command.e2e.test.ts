// Bundles on the command line: exported from a log, read by every command that reads a log,
// imported to a data folder, and refused when they were cut.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { call, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
beforeAll(async () => {
  commands = await openCommandFolder(
    script(says(call('exec', { command: 'ls' })), says(text('Done.'))),
  )
})
afterAll(() => commands.close())

describe('a bundle', () => {
  it('can be read like a log, becomes a log, and is refused when a part is missing', async () => {
    expect(
      await commands.run(['ask', '--agent', 'agent.yaml', '--conversation', 'c', 'look around']),
    ).toMatchObject({
      code: 0,
      out: 'Done.\n',
    })
    const exported = await commands.run([
      'export',
      '--since',
      '1h ago',
      '--where',
      'outcome=answered',
      '-o',
      'a.weir',
    ])
    expect(exported).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^a\.weir: 1 conversation, 1 turn, \d+ records\n$/),
    })
    expect((await commands.run(['inspect', 'a.weir'])).out).toContain('answered')
    expect((await commands.run(['inspect', 'a.weir', 'c'])).out).toBe(
      (await commands.run(['inspect', 'c'])).out,
    )
    const tail = ['tail', 'rounds-proposed', '--limit', '1']
    expect((await commands.run([...tail, '--bundle', 'a.weir'])).out).toBe(
      (await commands.run(tail)).out,
    )
    expect((await commands.run(['judge', 'a.weir'])).out).toContain('no intervention')
    expect(await commands.run(['dead-letters', '--bundle', 'a.weir'])).toMatchObject({
      code: 0,
      out: 'no dead letter matches\n',
    })

    expect(await commands.run(['import', 'a.weir', '--data-folder', 'copy'])).toMatchObject({
      code: 0,
    })
    expect((await commands.run(['inspect', 'c', '--data-folder', 'copy'])).out).toBe(
      (await commands.run(['inspect', 'c'])).out,
    )

    const file = join(commands.folder, 'a.weir')
    writeFileSync(file, readFileSync(file).subarray(0, 9_000))
    const cut = await commands.run(['inspect', 'a.weir'])
    expect(cut).toMatchObject({
      code: 2,
      out: '',
      errors: expect.stringContaining('a.weir is damaged: it is truncated: 9000 of'),
    })
  }, 180_000)
})
