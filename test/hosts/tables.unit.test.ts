// The table "works with" of the guide, from the cases of `make hosts` and their last results.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { allCases } from './cases/cases.ts'
import { worksWith } from './tables.ts'

const integrations = join(import.meta.dirname, '..', '..', 'integrations')

const folders = readdirSync(integrations, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(integrations, entry.name, 'README.md')))
  .map(({ name }) => name)

describe('the table "works with"', () => {
  it('has the results of the last runs (if not, run make hosts with ONLY= and WRITE=1)', async () => {
    const { expected, actual } = await worksWith(allCases())
    expect(actual).toEqual(expected)
  })

  it('has each version of a host once, with a result', async () => {
    const { actual } = await worksWith(allCases())
    const shown = actual.map((row) => row.split(' | ', 1)[0]?.slice(2))
    const hosts = allCases().flatMap(({ program, worksWith }) => (worksWith ? [program] : []))
    expect(shown.toSorted()).toEqual([...new Set(hosts)].toSorted())
  })

  it.each(folders)('has a row for the plug-in %s, whose cases have run', async (folder) => {
    const { actual } = await worksWith(allCases())
    const row = actual.find((one) => one.includes(`(../../integrations/${folder}/README.md)`))
    expect(row).toMatch(/\(.*plug-in\) \|$/)
  })
})

describe('the page of a plug-in', () => {
  it.each(folders)('of %s has at most 40 lines, and states how to remove the plug-in', (folder) => {
    const page = readFileSync(join(integrations, folder, 'README.md'), 'utf8')
    expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
    expect(page).toContain('Remove it')
  })
})
