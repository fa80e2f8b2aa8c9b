// The work of an import grows with the length of the transcript, and not with its square. The steps
// are counted: characters that are trimmed, elements that are copied or compared.

import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createRepetitions } from '../../../apps/transcripts/repetitions.ts'
import { createLeftOut } from '../../../shared/transcript/left-out.ts'
import { type Piece, transcriptOf } from '../../../shared/transcript/transcript.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

const begins: Piece = { kind: 'response', id: undefined }
const user: Piece = { kind: 'user', text: 'go' }
const text = (n: number): Piece => ({ kind: 'text', text: `sentence number ${n}. ` })
const call = (n: number): Piece => ({ kind: 'call', id: `c${n}`, name: 'ls', arguments: '{}' })
const result = (n: number): Piece => ({
  kind: 'result',
  id: `c${n}`,
  text: 'done',
  isError: false,
  where: 'log',
})
const numbers = (length: number) => Array.from({ length }, (_, n) => n)

const shapes: [name: string, (length: number) => Piece[]][] = [
  [
    'answers without a question between them',
    (n) => numbers(n).flatMap((at) => [begins, text(at)]),
  ],
  ['questions and answers', (n) => numbers(n).flatMap((at) => [user, begins, text(at)])],
  ['questions without an answer', (n) => numbers(n).map(() => user)],
  ['empty answers', (n) => numbers(n).map(() => begins)],
  ['calls and results', (n) => numbers(n).flatMap((at) => [begins, call(at), result(at)])],
  ['calls without a result', (n) => numbers(n).flatMap((at) => [begins, call(at)])],
  [
    'calls that wait for their results',
    (n) => [...numbers(n).flatMap((at) => [begins, call(at)]), ...numbers(n).map(result)],
  ],
  [
    'parallel calls without ids',
    (n) => [
      begins,
      ...numbers(n).map(() => ({ ...call(0), id: '' }) as Piece),
      ...numbers(n).map(() => ({ ...result(0), id: '' }) as Piece),
    ],
  ],
]

function stepsFor(pieces: Piece[]): number {
  let steps = 0
  const { trim } = String.prototype
  const { slice, findIndex, findLast } = Array.prototype
  jest.spyOn(String.prototype, 'trim').mockImplementation(function (this: string) {
    steps += this.length
    return trim.call(this)
  })
  jest.spyOn(Array.prototype, 'slice').mockImplementation(function (this: unknown[], ...range) {
    const copy = slice.apply(this, range)
    steps += copy.length
    return copy
  })
  for (const [name, search] of [
    ['findIndex', findIndex],
    ['findLast', findLast],
  ] as const)
    jest.spyOn(Array.prototype, name).mockImplementation(function (
      this: unknown[],
      matches: (...one: unknown[]) => unknown,
    ) {
      return search.call(this, (...one) => {
        steps += 1
        return matches(...one)
      })
    } as never)
  const repetitions = createRepetitions()
  const entry = { id: undefined, after: undefined, pieces }
  repetitions.add(entry)
  transcriptOf(
    'log',
    'c',
    { pieces: repetitions.withEndings(entry), tools: undefined },
    createLeftOut(),
  )
  jest.restoreAllMocks()
  return steps
}

describe('the import of a transcript', () => {
  it.each(shapes)('does at most two and a half times the work for twice as many %s', (_, shape) => {
    const of = (length: number) => stepsFor([user, begins, text(0), ...shape(length)])
    expect(of(2_000)).toBeLessThan(2.5 * of(1_000) + 1_000)
  })

  it('reads an answer of more than a hundred thousand pieces', () => {
    expect(
      stepsFor([user, ...numbers(150_000).flatMap((at) => [begins, text(at)])]),
    ).toBeGreaterThan(0)
  })
})
