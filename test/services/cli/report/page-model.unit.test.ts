// What the page finds out by itself: rows, spans, the axis, differences, search.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { timelineOf } from '../../../../services/cli/inspect/timeline-of.ts'
import type { Fold } from '../../../../services/cli/report/page/axis.ts'
import { foldsOf, marksOf, piecesOf, timeAt, xOf } from '../../../../services/cli/report/page/axis.ts'
import { argumentDiff } from '../../../../services/cli/report/page/member-diff.ts'
import { rowsOf } from '../../../../services/cli/report/page/rows.ts'
import { hasWords, isOfKind, wordsIn } from '../../../../services/cli/report/page/search.ts'
import { shares, spansOf } from '../../../../services/cli/report/page/spans.ts'
import { wordDiff } from '../../../../services/cli/report/page/word-diff.ts'
import { reportData } from '../../../../services/cli/report/report-data.ts'
import { longConversation } from './long-conversation.ts'

function dataOf(rounds: number, looping: number) {
  const records = longConversation(rounds, looping)
  return reportData(timelineOf('long', records, { reasoning: false }), records, { partition: 0, topicPrefix: '' }).data
}

const never = () => false

describe('the rows', () => {
  const data = dataOf(10, 5)

  it('fold a loop into one, and show its rounds when it is opened', () => {
    expect(rowsOf(data, { isOpen: never }).map(({ kind }) => kind)).toEqual(['turn', 'round', 'round', 'round', 'round', 'round', 'loop'])
    const open = rowsOf(data, { isOpen: () => true })
    expect(open.filter((row) => row.kind === 'round')).toHaveLength(10)
    expect(open.at(-1)).toEqual({ kind: 'round', turn: 0, round: 9, loop: 0 })
  })

  it('fold nothing that is looked for, and leave out turns in which nothing was found', () => {
    expect(rowsOf(data, { isOpen: never, matches: ({ round }) => round >= 9 }).map(({ kind }) => kind)).toEqual(['turn', 'round', 'round'])
    expect(rowsOf(data, { isOpen: never, matches: never })).toEqual([])
  })
})

describe('a search', () => {
  const [turn] = dataOf(10, 5).timeline.turns

  it('finds each of its words, in whatever case, anywhere in a round', () => {
    const found = (query: string) => turn?.rounds.filter((round) => hasWords(round, wordsIn(query))).map(({ round }) => round)
    expect(found('FILE-3.ts')).toEqual([3])
    expect(found('targets make')).toEqual([6, 7, 8, 9, 10])
    expect(found('  ')).toHaveLength(10)
    expect(found('absent')).toEqual([])
  })

  it('finds rounds by what became of them', () => {
    const found = (kind: Parameters<typeof isOfKind>[1]) => turn?.rounds.filter((round) => isOfKind(round, kind)).length
    expect([found('all'), found('stopped'), found('failed'), found('interventions')]).toEqual([10, 0, 5, 3])
  })
})

describe('spans of time', () => {
  const [turn] = dataOf(3, 0).timeline.turns

  it('say which lane had which part of a round', () => {
    const own = spansOf(turn!, 1e9).filter(({ round }) => round === 2)
    expect(own.map(({ lane, tone }) => `${lane} ${tone}`)).toEqual(['model plain', 'checks plain', 'checks plain', 'tools plain'])
    for (const { from, to } of own) expect(to).toBeGreaterThanOrEqual(from)
    expect(shares(turn!.rounds[1]!, 1e9)).toMatchObject({ guards: 0, waits: 0, tools: 1 })
  })
})

describe('the axis', () => {
  const fold = (from: number, to: number, kind: Fold['kind'] = 'loop'): Fold => ({ kind, from, to, turn: 0, loop: 0 })

  it('gives a fold a fixed width, however long it lasted, and the rest its share', () => {
    const pieces = piecesOf(0, 1_000_200, [fold(100, 1_000_100)], 1_000)
    expect(pieces.map(({ width }) => Math.round(width))).toEqual([452, 96, 452])
    expect(Math.round(xOf(pieces, 50))).toBe(226)
    expect(Math.round(timeAt(pieces, 226))).toBe(50)
  })

  it('fills its width without gaps, whatever is folded', () => {
    const folds = fc.array(
      fc.tuple(fc.nat(1000), fc.nat(1000)).map(([a, b]) => fold(Math.min(a, b), Math.max(a, b))),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(folds, fc.integer({ min: 100, max: 2_000 }), (given, width) => {
        const pieces = piecesOf(0, 1_000, given, width)
        expect(pieces[0]).toMatchObject({ from: 0, x: 0 })
        for (const [index, piece] of pieces.entries()) {
          const next = pieces[index + 1]
          expect(piece.width).toBeGreaterThanOrEqual(0)
          expect(next?.from ?? 1_000).toBe(piece.to)
          expect(next?.x ?? width).toBeCloseTo(piece.x + piece.width, 3)
        }
      }),
    )
  })

  it('has marks that differ from each other and do not touch', () => {
    for (const to of [700, 9_000, 61_000, 5e6, 9e8]) {
      const marks = marksOf(piecesOf(0, to, [fold(to / 3, to / 2)], 900), 76)
      expect(marks.length).toBeGreaterThan(2)
      expect(new Set(marks.map(({ text }) => text)).size).toBe(marks.length)
      for (const [index, { x }] of marks.entries()) if (index > 0) expect(x - marks[index - 1]!.x).toBeGreaterThan(50)
    }
  })

  it('folds loops that are not opened', () => {
    const { turns } = dataOf(10, 5).timeline
    const ends = turns.map(({ end }) => end?.at ?? 0)
    const spans = turns.map((turn, index) => spansOf(turn, ends[index] ?? 0))
    expect(foldsOf(turns, ends, spans, never)).toMatchObject([
      { kind: 'loop', from: turns[0]?.rounds[5]?.askedAt, to: turns[0]?.rounds[9]?.endedAt },
    ])
    expect(foldsOf(turns, ends, spans, () => true)).toEqual([])
  })
})

describe('the difference of two calls', () => {
  it('is told member by member, whatever their order', () => {
    const before = '{"path":"a.ts","edit":{"from":1,"text":"let x = 1"},"old":true}'
    const after = '{"edit":{"text":"let y = 1","from":1},"path":"a.ts","tags":["new"]}'
    expect(argumentDiff(before, after)).toEqual({
      unchanged: 2,
      members: [
        {
          kind: 'changed',
          path: 'edit.text',
          pieces: [
            { kind: 'same', text: 'let ' },
            { kind: 'removed', text: 'x' },
            { kind: 'added', text: 'y' },
            { kind: 'same', text: ' = 1' },
          ],
        },
        { kind: 'removed', path: 'old', text: 'true' },
        { kind: 'added', path: 'tags[0]', text: 'new' },
      ],
    })
  })

  it('is told word by word where one is no JSON object', () => {
    expect(argumentDiff('{"a": 1', '{"a": 2')).toMatchObject({ unchanged: 0, members: [{ kind: 'changed', path: '' }] })
    expect(argumentDiff('', '')).toEqual({ unchanged: 1, members: [] })
  })

  it('gives back both texts, piece by piece, whatever they are', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '{', '🦊', '\n'), maxLength: 60 })
    fc.assert(
      fc.property(text, text, (before, after) => {
        const pieces = wordDiff(before, after)
        const side = (left: string) => pieces.filter(({ kind }) => kind !== left).map((piece) => piece.text)
        expect(side('added').join('')).toBe(before)
        expect(side('removed').join('')).toBe(after)
      }),
    )
  })

  it('says that a middle of many words was replaced, instead of filling a table without bound', () => {
    const words = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word}${index}`).join(' ')
    expect(wordDiff(`x ${words('a')} y`, `x ${words('b')} y`).map(({ kind }) => kind)).toEqual(['same', 'removed', 'added', 'same'])
  })
})
