// The generated tables of docs/reference are up to date, and name everything that their sources have.

import { describe, expect, it } from '@jest/globals'
import { createProgram } from '../../apps/cli/program.ts'
import { referenceFiles } from '../../bin/generate-reference.ts'
import { withTables } from '../../bin/reference/table.ts'
import { limits } from '../../shared/contract/limits.ts'
import { settingTable } from '../../shared/settings/settings.ts'

const files = await referenceFiles()
const pageOf = (name: string) =>
  files.find(({ path }) => path === `docs/reference/${name}.md`)?.generated ?? ''

describe('the pages of the reference', () => {
  it.each(files.map(({ path, text, generated }) => [path, text, generated]))(
    '%s equals its sources (if not, run `make schemas`)',
    (_, text, generated) => expect(text).toBe(generated),
  )

  it('name each command of weir in the section of its group', async () => {
    for (const command of (await createProgram('all')).commands) {
      const heading = command.helpGroup().replace(/:$/, '')
      const [, section] = pageOf('commands').split(`## ${heading}\n`)
      expect(section?.split('\n## ')[0]).toContain(`| \`weir ${command.name()}`)
    }
  })

  it('name each setting with its variable', () => {
    for (const [name, { variable }] of Object.entries(settingTable))
      expect(pageOf('settings')).toContain(`| \`${name}\` | \`${variable}\` |`)
  })

  it('show a limit in the largest unit in which the number is whole', () => {
    expect(limits.historyBytesMax).toBe(16 * 1024 * 1024)
    expect(pageOf('limits')).toMatch(/history.* \| 16 MiB \|\n/)
    expect(pageOf('limits')).toMatch(/`once` \| 30 days \|\n/)
    expect(pageOf('limits')).toMatch(/one round \| 1 s \|\n/)
  })

  it('name both texts of a call in the events that have its arguments or its result', () => {
    const rowOf = (kind: string) => pageOf('events').split(`| \`${kind}\` |`)[1]?.split('\n')[0]
    for (const kind of ['call-denied', 'tool-started', 'call-offered'])
      expect(rowOf(kind)).toContain('`name`, `arguments`, `rawArguments`')
    expect(rowOf('call-finished')).toContain('`result`, `rawResult`')
  })
})

describe('a table of a page', () => {
  const table = { columns: ['a'], rows: [['x | y']] }

  it('replaces the first table below its heading, and nothing else', () => {
    const page = '# P\n\n## One\n\n| a |\n|---|\n| old |\n\nText.\n\n## Two\n\n| b |\n'
    expect(withTables(page, { One: table })).toBe(
      '# P\n\n## One\n\n| a |\n| --- |\n| x \\| y |\n\nText.\n\n## Two\n\n| b |\n',
    )
  })

  it('is an error where its section or its place is missing', () => {
    expect(() => withTables('# P\n', { One: table })).toThrow("no section 'One'")
    expect(() => withTables('# P\n## One\ntext\n', { One: table })).toThrow('with a table')
  })
})
