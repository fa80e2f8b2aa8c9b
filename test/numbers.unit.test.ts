// The page of numbers stays repeatable: each row has a command, and the command names files and benches
// that exist. Counts that the sources have are compared with the page.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
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

  it('counts the traces of the corpus', () => {
    const files = readdirSync(join(root, 'test/corpus')).filter((file) => file.endsWith('.jsonl'))
    const fires = files.flatMap((file) =>
      textOf(`test/corpus/${file}`)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).expect.fires === true),
    )
    const loops = fires.filter((one) => one).length
    expect(ofMeasure('honest traces of the corpus')).toBe(`0 of ${fires.length - loops}`)
    expect(ofMeasure('looping traces of the corpus')).toBe(`${loops} of ${loops}`)
  })

  it('counts the broken systems, and the seeds of a nightly run', () => {
    expect(ofMeasure('broken systems')).toBe(`${canaries.length}`)
    expect(textOf('.github/workflows/nightly.yml')).toContain('make simulate SEEDS=1000')
  })
})
