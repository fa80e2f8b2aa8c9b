// The pieces of a format become turns, with each result at its call.

import { describe, expect, it } from '@jest/globals'
import { createLeftOut } from '../../../shared/transcript/left-out.ts'
import { type Piece, transcriptOf } from '../../../shared/transcript/transcript.ts'

const user: Piece = { kind: 'user', text: 'go' }
const begins: Piece = { kind: 'response', id: undefined }
const call = (id: string, name: string): Piece => ({ kind: 'call', id, name, arguments: '{}' })
const result = (id: string, text: string): Piece => ({
  kind: 'result',
  id,
  text,
  isError: false,
  where: 'log',
})

const named = (name: string, text: string): Piece => ({
  kind: 'result',
  id: '',
  name,
  text,
  isError: false,
  where: 'log',
})

/** The results of the calls of each turn. */
function broughtIn(pieces: Piece[]) {
  const { turns } = transcriptOf('log', 'c', { pieces, tools: undefined }, createLeftOut())
  return turns.map(({ responses }) =>
    responses.flatMap(({ calls }) =>
      calls.map(({ name, result: of }) => [name, typeof of === 'object' ? of.text : of]),
    ),
  )
}

describe('transcriptOf', () => {
  it.each([
    ['no ids', ''],
    ['an id that is used again', 'call_0'],
  ])('gives no result to an unanswered call of an earlier turn if calls have %s', (_, id) => {
    expect(
      broughtIn([
        user,
        begins,
        call(id, 'rm'),
        user,
        begins,
        call(id, 'ls'),
        result(id, 'LISTING'),
        begins,
      ]),
    ).toEqual([[['rm', undefined]], [['ls', 'LISTING']]])
  })

  it('gives no result to an unanswered call of an earlier response', () => {
    const first = [begins, call('call_0', 'rm'), call('call_1', 'cat'), result('call_1', 'A CAT')]
    const second = [begins, call('call_0', 'ls'), result('call_0', 'LISTING'), begins]
    expect(broughtIn([user, ...first, ...second])).toEqual([
      [
        ['rm', 'unknown'],
        ['cat', 'A CAT'],
        ['ls', 'LISTING'],
      ],
    ])
  })

  it('matches results without ids to the calls of a response by order, and a late one to the call that waits', () => {
    expect(
      broughtIn([user, begins, call('', 'a'), call('', 'b'), result('', 'A'), result('', 'B')]),
    ).toEqual([
      [
        ['a', 'A'],
        ['b', 'B'],
      ],
    ])
    expect(
      broughtIn([
        user,
        begins,
        call('x', 'a'),
        user,
        begins,
        call('y', 'b'),
        result('y', 'B'),
        result('x', 'A'),
      ]),
    ).toEqual([[['a', 'A']], [['b', 'B']]])
  })

  it('matches results that name their tool to its calls, in any order and with gaps', () => {
    const calls = [call('', 'a'), call('', 'b'), call('', 'a'), call('', 'c')]
    const results = [named('b', 'B'), named('a', 'A1'), named('z', 'NOBODY'), named('a', 'A2')]
    expect(broughtIn([user, begins, ...calls, ...results])).toEqual([
      [
        ['a', 'A1'],
        ['b', 'B'],
        ['a', 'A2'],
        ['c', undefined],
      ],
    ])
  })
})
