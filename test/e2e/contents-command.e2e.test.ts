// Images and files on the command line: in a question, in inspect, in a bundle and in a replay.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { png } from '../support/contents.ts'
import { says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
beforeAll(async () => {
  commands = await openCommandFolder(() => says(text('Two chairs.')))
  writeFileSync(join(commands.folder, 'a.png'), png(700_000))
  writeFileSync(join(commands.folder, 'notes.txt'), 'blue chairs')
  writeFileSync(join(commands.folder, 'a.zip'), 'PK\x03\x04')
})
afterAll(() => commands.close())

const ask = ['ask', '--agent', 'agent.yaml', '--conversation', 'c']

function sentImages(): number {
  const { requests } = commands.server
  const content = requests.at(-1)?.messages[0]?.content as { type: string }[]
  return content.filter(({ type }) => type === 'image').length
}

describe('an image and a file of a question', () => {
  it('reach the model, and every reader of the log names them without their bytes', async () => {
    const { run } = commands
    const asked = await run([...ask, '--image', 'a.png', '--file', 'notes.txt', 'What is it?'])
    expect(asked).toMatchObject({ code: 0, out: 'Two chairs.\n' })
    expect(sentImages()).toBe(1)

    const { out } = await run(['inspect', 'c'])
    expect(out).toMatch(/\[image: image\/png, 700000 bytes, sha256 [0-9a-f]{16}\]/)
    expect(out).toMatch(/\[file "notes\.txt": text\/plain, 11 bytes, sha256 [0-9a-f]{16}\]/)
    expect(out).not.toContain('blue chairs')
    const { turns } = JSON.parse((await run(['inspect', 'c', '--json'])).out)
    expect(turns[0].contents).toMatchObject([
      { mediaType: 'image/png', bytes: 700_000, pieces: 2, name: '' },
      { mediaType: 'text/plain', bytes: 11, pieces: 1, name: 'notes.txt' },
    ])
    expect(await run(['replay'])).toMatchObject({ code: 0 })

    expect(await run(['export', '--conversation', 'c', '-o', 'a.weir'])).toMatchObject({ code: 0 })
    expect((await run(['inspect', 'a.weir', 'c'])).out).toBe(out)
    expect(await run(['replay', 'a.weir'])).toMatchObject({ code: 0 })
    expect(await run(['import', 'a.weir', '--data-folder', 'copy'])).toMatchObject({ code: 0 })
    const copy = ['--data-folder', 'copy', '--run-imported']
    expect(await run([...ask, ...copy, 'And its colour?'])).toMatchObject({ code: 0 })
    expect(sentImages()).toBe(1)
  }, 180_000)

  it('are refused with the reason if they are no file or have another type', async () => {
    const { run } = commands
    const missing = await run([...ask, '--image', 'none.png', 'What is it?'])
    expect(missing).toMatchObject({
      code: 2,
      errors: expect.stringContaining('--image: none.png cannot be read (ENOENT)'),
    })
    const zip = await run([...ask, '--file', 'a.zip', 'What is it?'])
    expect(zip).toMatchObject({
      code: 2,
      errors: expect.stringContaining('files[0] is of no known type'),
    })
  }, 60_000)
})
