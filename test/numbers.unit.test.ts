// The page of numbers stays repeatable: each row has a command, and the command names files and benches
// that exist. The page has the counts that its commands print, where they do not depend on the machine.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { verdictCounts } from './corpus/verdict-counts.ts'
import { canaries } from './simulation/broken/canaries.ts'

const root = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')
const page = textOf('docs/start/numbers.md')

const rows = [...page.matchAll(/^\| (?!measure |-)(.+) \| (.+) \| (.+) \|$/gm)].map(
  ([, measure = '', value = '', command = '']) => ({ measure, value, command }),
)

const ofMeasure = (measure: string) => rows.find((row) => row.measure.startsWith(measure))?.value

describe('the page of numbers', () => {
  it('has a command in each row', () => {
    expect(rows.length).toBeGreaterThan(12)
    expect(rows.filter(({ command }) => !/^`(make|weir|python3) [^`]+`$/.test(command))).toEqual([])
  })

  it.each(rows.map(({ command }) => command))(
    'names only files and benches that exist: %s',
    (command) => {
      const [, path] = /(?:ARGS=|judge |python3 )(\S+?)[` ]/.exec(command) ?? []
      if (path !== undefined) expect(existsSync(join(root, path))).toBe(true)
      const [, bench] = /ONLY="(.+)"/.exec(command) ?? []
      if (bench !== undefined) expect(textOf('test/bench/main.ts')).toContain(`['${bench}', bench`)
    },
  )

  it('has the counts of verdicts that its command prints', () => {
    const page = rows.filter(({ command }) => command.includes('"verdicts"'))
    const printed = verdictCounts().map(({ name, value, unit }) => [name, `${value} ${unit}`])
    expect(Object.fromEntries(page.map(({ measure, value }) => [measure, value]))).toEqual(
      Object.fromEntries(printed),
    )
  })

  it('counts the broken systems, and the seeds of a nightly run', () => {
    expect(ofMeasure('broken systems')).toBe(`${canaries.length}`)
    expect(textOf('.github/workflows/nightly.yml')).toContain('make simulate SEEDS=1000')
  })
})
