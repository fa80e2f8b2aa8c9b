// The data that the page derives: rows, spans, the axis, differences, search.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { argumentDiff } from '../../../apps/page/kit/member-diff.ts'
import { wordDiff } from '../../../apps/page/kit/word-diff.ts'
import { type Fold, foldsOf, piecesOf, timeAt, xOf } from '../../../apps/report/page/axis/axis.ts'
import { shares, spansOf } from '../../../apps/report/page/axis/spans.ts'
import { brief, ticksOf } from '../../../apps/report/page/axis/ticks.ts'
import { rowsOf } from '../../../apps/report/page/list/rows.ts'
import { hasWords, isOfKind, wordsIn } from '../../../apps/report/page/list/search.ts'
import { marksOfRound } from '../../../apps/report/page/list/tones.ts'
import { reportData } from '../../../apps/report/report-data.ts'
import { longConversation } from './long-conversation.ts'

function dataOf(rounds: number, looping: number) {
  const records = longConversation(rounds, looping)
  return reportData(timelineOf('long', records, { reasoning: false }), records, {
    partition: 0,
    topicPrefix: '',
  }).data
}

const never = () => false

describe('the rows', () => {
  const data = dataOf(10, 5)

  it('fold a loop into one row, and show its rounds once opened', () => {
    expect(rowsOf(data, { isOpen: never }).map(({ kind }) => kind)).toEqual([
      'turn',
      'round',
      'round',
      'round',
      'round',
      'round',
      'loop',
    ])
    const open = rowsOf(data, { isOpen: () => true })
    expect(open.filter((row) => row.kind === 'round')).toHaveLength(10)
    expect(open.at(-1)).toEqual({ kind: 'round', turn: 0, round: 9, loop: 0 })
  })

  it('fold nothing during a search, and leave out turns without a match', () => {
    expect(
      rowsOf(data, { isOpen: never, matches: ({ round }) => round >= 9 }).map(({ kind }) => kind),
    ).toEqual(['turn', 'round', 'round'])
    expect(rowsOf(data, { isOpen: never, matches: never })).toEqual([])
  })
})

describe('a search', () => {
  const [turn] = dataOf(10, 5).timeline.turns

  it('finds all of its words anywhere in a round, in upper or lower case', () => {
    const found = (query: string) =>
      turn?.rounds.filter((round) => hasWords(round, wordsIn(query))).map(({ round }) => round)
    expect(found('FILE-3.ts')).toEqual([3])
    expect(found('targets make')).toEqual([6, 7, 8, 9, 10])
    expect(found('  ')).toHaveLength(10)
    expect(found('absent')).toEqual([])
  })

  it('finds rounds by their results', () => {
    const found = (kind: Parameters<typeof isOfKind>[1]) =>
      turn?.rounds.filter((round) => isOfKind(round, kind)).length
    expect([found('all'), found('stopped'), found('failed'), found('interventions')]).toEqual([
      10, 0, 5, 3,
    ])
  })
})

describe('spans of time', () => {
  const [turn] = dataOf(3, 0).timeline.turns

  it('assign each part of a round to its lane', () => {
    const own = spansOf(turn!, 1e9).filter(({ round }) => round === 2)
    expect(own.map(({ lane, tone }) => `${lane} ${tone}`)).toEqual([
      'model plain',
      'checks plain',
      'checks plain',
      'tools plain',
    ])
    for (const { from, to } of own) expect(to).toBeGreaterThanOrEqual(from)
    expect(shares(turn!.rounds[1]!, 1e9)).toMatchObject({ guards: 0, waits: 0, tools: 1 })
  })

  it('show a call that only waits as a wait, and mark it as no success', () => {
    const [round] = turn!.rounds
    const calls = round!.calls.map((call) => ({ ...call, waits: true as const }))
    const waiting = { ...round!, calls }
    expect(spansOf({ ...turn!, rounds: [waiting] }, 1e9).map(({ lane }) => lane)).toEqual([
      'model',
      'checks',
      'checks',
      'waits',
    ])
    expect(marksOfRound(waiting)).toEqual([
      { name: 'hourglass', tone: 'faint', word: 'ok, a wait' },
    ])
    expect(marksOfRound(round!)).toMatchObject([{ name: 'check', tone: 'good' }])
  })
})

describe('the axis', () => {
  const fold = (from: number, to: number, kind: Fold['kind'] = 'loop'): Fold => ({
    kind,
    from,
    to,
    turn: 0,
    loop: 0,
  })

  const widths = (pieces: ReturnType<typeof piecesOf>) =>
    pieces.map(({ width }) => Math.round(width))

  it('gives a folded loop the width of its duration', () => {
    const pieces = piecesOf(0, 1_000, [fold(100, 800)], { width: 1_000, rounds: 3 })
    expect(widths(pieces)).toEqual([100, 700, 200])
    expect(pieces.every(({ isToScale }) => isToScale)).toBe(true)
    expect(Math.round(timeAt(pieces, 850))).toBe(850)
  })

  it('gives a loop less and marks it if the rounds around it would merge', () => {
    const pieces = piecesOf(0, 1_000_000, [fold(100, 999_900)], { width: 1_000, rounds: 4 })
    expect(widths(pieces)).toEqual([52, 896, 52])
    expect(pieces.map(({ isToScale }) => isToScale)).toEqual([true, false, true])
    expect(Math.round(xOf(pieces, 50))).toBe(26)
  })

  it('gives a loop more and marks it if it would be invisible', () => {
    const pieces = piecesOf(0, 1_000_000, [fold(500_000, 500_010)], { width: 1_000, rounds: 4_000 })
    expect(widths(pieces)).toEqual([482, 36, 482])
    expect(pieces[1]?.isToScale).toBe(false)
  })

  it('leaves out uninteresting time of any length', () => {
    const pieces = piecesOf(0, 9e8, [fold(1_000, 9e8 - 1_000, 'idle')], { width: 1_000, rounds: 4 })
    expect(widths(pieces)).toEqual([477, 46, 477])
  })

  it('fills its width without gaps, with any folds', () => {
    const folds = fc.array(
      fc
        .tuple(fc.nat(1000), fc.nat(1000), fc.constantFrom<Fold['kind']>('loop', 'idle'))
        .map(([a, b, kind]) => fold(Math.min(a, b), Math.max(a, b), kind)),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(folds, fc.integer({ min: 100, max: 2_000 }), (given, width) => {
        const pieces = piecesOf(0, 1_000, given, { width, rounds: given.length })
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

  it('shows the time of day where a turn begins, and then the time since', () => {
    const begin = Date.UTC(2026, 10, 22, 9, 59, 58)
    const texts = (to: number, begins = [begin]) =>
      ticksOf(piecesOf(begin, begin + to, [], { width: 900, rounds: 3 }), begins, 900).map(
        ({ text }) => text,
      )
    expect(texts(13_000).slice(0, 3)).toEqual(['09:59:58 UTC', '+2 s', '+4 s'])
    expect(texts(250).slice(0, 3)).toEqual(['09:59:58 UTC', '+50 ms', '+100 ms'])
    expect(texts(300_000, [begin, begin + 150_000])).toEqual(
      expect.arrayContaining(['09:59:58 UTC', '+30 s', '+1 min', '+2 min', '10:02:28']),
    )
    expect(texts(864e5, [begin, begin + 432e5])).toContain('21:59:58')
    expect(texts(2 * 864e5, [begin, begin + 864e5])).toContain('2026-11-23 09:59:58')
  })

  it('shows the length of each break in the scale', () => {
    const pieces = piecesOf(0, 96e6, [fold(1_000, 95e6, 'idle')], { width: 900, rounds: 3 })
    expect(ticksOf(pieces, [0, 95e6], 900).filter(({ kind }) => kind === 'gap')).toMatchObject([
      { text: '26 h' },
    ])
    expect([900, 45_000, 90_000, 5_400_000, 1e9].map(brief)).toEqual([
      '900 ms',
      '45 s',
      '1.5 min',
      '1.5 h',
      '12 d',
    ])
  })

  it('has different texts that neither touch nor are cut', () => {
    for (const to of [700, 1_500, 9_000, 61_000, 5e6, 9e8]) {
      const ticks = ticksOf(
        piecesOf(0, to, [fold(to / 3, to / 2)], { width: 900, rounds: 5 }),
        [0],
        900,
      )
      expect(ticks.length).toBeGreaterThan(3)
      expect(new Set(ticks.map(({ text }) => text)).size).toBe(ticks.length)
      for (const [index, { at, text }] of ticks.entries()) {
        expect(at + 6 * text.length).toBeLessThanOrEqual(ticks[index + 1]?.at ?? 900)
        expect(at).toBeGreaterThanOrEqual(0)
      }
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
  it('is shown by member, in any order', () => {
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

  it('is shown by word if one is not a JSON object', () => {
    expect(argumentDiff('{"a": 1', '{"a": 2')).toMatchObject({
      unchanged: 0,
      members: [{ kind: 'changed', path: '' }],
    })
    expect(argumentDiff('', '')).toEqual({ unchanged: 1, members: [] })
  })

  it('contains both texts, piece by piece, for any texts', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '{', '🦊', '\n'), maxLength: 60 })
    fc.assert(
      fc.property(text, text, (before, after) => {
        const pieces = wordDiff(before, after)
        const side = (left: string) =>
          pieces.filter(({ kind }) => kind !== left).map((piece) => piece.text)
        expect(side('added').join('')).toBe(before)
        expect(side('removed').join('')).toBe(after)
      }),
    )
  })

  it('replaces a middle of many words instead of filling a table without limit', () => {
    const words = (word: string) =>
      Array.from({ length: 3_000 }, (_, index) => `${word}${index}`).join(' ')
    expect(wordDiff(`x ${words('a')} y`, `x ${words('b')} y`).map(({ kind }) => kind)).toEqual([
      'same',
      'removed',
      'added',
      'same',
    ])
  })
})
