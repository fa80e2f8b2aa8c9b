// The picture of the pipeline in README.md names real stages, and its files are those of the drawing.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { stages } from '../../shared/contract/topology.ts'
import { boxes, pictures } from './pipeline.ts'

it.each(Object.entries(pictures))('%s is as pipeline.ts draws it', (file, content) => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/start', file), 'utf8')).toBe(content)
})

it('the picture of the pipeline names only stages that exist', () => {
  expect(Object.keys(stages)).toEqual(expect.arrayContaining(boxes.map(({ name }) => name)))
})
