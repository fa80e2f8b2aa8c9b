// The page of the paths lists the files that a call really uses.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')

describe.each([
  { title: 'The path of a request under the veto', program: 'request-under-veto.ts', filesMax: 30 },
  { title: 'The path of a native call', program: 'native-call.ts', filesMax: 22 },
])('$title', ({ title, program, filesMax }) => {
  const { counted, others } = tablesOf(title)

  it('lists each file once, with its number', () => {
    expect(counted.map(({ number }) => number)).toEqual(counted.map((_, at) => at + 1))
    expect(new Set(counted.map(({ file }) => file)).size).toBe(counted.length)
  })

  it('names only files and folders that exist', () => {
    const paths = [...counted.map(({ file }) => file), ...others]
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  // Otherwise a table would not show a file that begins to decide.
  it('excludes no whole stage', () => {
    const isStage = (path: string) => /^services\/[^/]+\/$/.test(path)
    expect(others.filter(isStage)).toEqual([])
  })

  it(`has at most ${filesMax} files`, () => {
    expect(counted.length).toBeGreaterThan(filesMax / 2)
    expect(counted.length).toBeLessThanOrEqual(filesMax)
  })

  it('has exactly the files that the call uses', async () => {
    const { files, isAsExpected } = await usedBy(program)
    expect(isAsExpected).toBe(true)
    const names = counted.map(({ file }) => file)
    expect(names.filter((file) => !files.includes(file))).toEqual([])
    const isOther = (file: string) =>
      others.some((other) => file === other || (other.endsWith('/') && file.startsWith(other)))
    expect(files.filter((file) => !names.includes(file) && !isOther(file))).toEqual([])
  })
})

/** `counted`: the numbered rows. `others`: files and folders that do not count. */
function tablesOf(title: string) {
  const section = page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const counted = [...section.matchAll(/^\| (\d+) \| `([^`]+)` \|/gm)].map(
    ([, number, file = '']) => ({ number: Number(number), file }),
  )
  const rows = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, files = '']) => files)
  const others = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file))
  return { counted, others }
}

async function usedBy(program: string): Promise<{ files: string[]; isAsExpected: boolean }> {
  const file = join(import.meta.dirname, program)
  const options = ['--disable-warning=ExperimentalWarning', file]
  const { stdout } = await promisify(execFile)(process.execPath, options)
  return JSON.parse(stdout) as { files: string[]; isAsExpected: boolean }
}
