// Arguments as a host runs them, by its profile. Their texts are a model's, so they may be hostile.

import { describe, expect, it } from '@jest/globals'
import { claudeCode } from '../../../shared/hosts/profiles.ts'
import { argumentsAsRun } from '../../../shared/hosts/rewriting.ts'

const { rewriting } = claudeCode
if (rewriting === undefined) throw new Error('the profile declares no changes')

const written = (content: string): unknown => {
  const call = { name: 'Write', arguments: JSON.stringify({ content }) }
  return JSON.parse(argumentsAsRun(call, rewriting, () => undefined)).content
}

describe('a text whose lines lose the blanks at their ends', () => {
  it('keeps all other blanks', () => {
    expect(written(' a  b \t\n\t\n  c\r\n d ')).toBe(' a  b\n\n  c\r\n d')
  })

  it('is read in linear time: a quadratic search does not end in this test', () => {
    const text = `${' '.repeat(1_000_000)}x`
    expect(written(text)).toBe(text)
  })
})
