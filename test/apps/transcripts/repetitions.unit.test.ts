// Finds the entries of a request log that only repeat others.

import { describe, expect, it } from '@jest/globals'
import { createRepetitions } from '../../../apps/transcripts/repetitions.ts'
import type { Piece } from '../../../shared/transcript/transcript.ts'

const user: Piece = { kind: 'user', text: 'go' }
const call: Piece = { kind: 'call', id: 'c1', name: 'exec', arguments: '{}' }
const ended: Piece = { kind: 'ended', usage: undefined, finish: 'stop' }
const answer = (...said: (Piece | string)[]): Piece[] => [
  { kind: 'response', id: undefined },
  ...said.map((one): Piece => (typeof one === 'string' ? { kind: 'text', text: one } : one)),
]
const entry = (...pieces: Piece[]) => ({ id: undefined, after: undefined, pieces })

describe('createRepetitions', () => {
  it.each([
    ['before an answer', ['<think>hm</think>\nA'], ['A']],
    ['that its prompt began', ['hm</think>\n\nA'], ['A']],
    ['before a call', ['<think>hm</think>', call], [call]],
  ])(
    'treats an answer with thinking in its text %s as equal to its repetition without it',
    (_, first, later) => {
      const repetitions = createRepetitions()
      repetitions.add(entry(user, ...answer(...first), ended))
      const next = entry(
        user,
        ...answer(...later),
        { kind: 'user', text: 'and?' },
        ...answer('B'),
        ended,
      )
      repetitions.add(next)
      expect(repetitions.results()).toEqual(['beginning', 'kept'])
      const pieces = repetitions.withEndings(next)
      expect(pieces[pieces.findLastIndex(({ kind }) => kind === 'user') - 1]).toEqual(ended)
    },
  )

  it('separates answers with different texts after their thinking', () => {
    const repetitions = createRepetitions()
    for (const said of ['A', 'B'])
      repetitions.add(entry(user, ...answer(`<think>hm</think>${said}`), ended))
    expect(repetitions.results()).toEqual(['kept', 'kept'])
  })

  it('puts back an answer with only thinking in its text, unless it is there already', () => {
    const repetitions = createRepetitions()
    const thought = answer('<think>hm</think>')
    repetitions.add(entry(user, ...thought, ended))
    const without = entry(user, ...answer('A'), ended)
    repetitions.add(without)
    const responses = (pieces: Piece[]) => pieces.filter(({ kind }) => kind === 'response').length
    expect(responses(repetitions.withEndings(without))).toBe(2)
    expect(responses(repetitions.withEndings(entry(user, ...thought, ...answer('A'), ended)))).toBe(
      2,
    )
  })
})
