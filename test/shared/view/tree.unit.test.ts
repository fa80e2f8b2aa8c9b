import { describe, expect, it } from '@jest/globals'
import type { Message, Parent, TurnFinished } from '../../../shared/contract/messages.ts'
import { addTurnToTree, beginTree, treeTimeline } from '../../../shared/view/tree.ts'
import { addToTurn, beginTurn, type TurnView } from '../../../shared/view/turn-view.ts'
import { callFinished, turnFinished, turnStarted } from '../../support/activity.ts'

const call = { ordinal: 0, id: 'i', name: 'ask', arguments: '{}', argumentsBytes: 2, problem: null }
const usage = { inputTokens: 90, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 }

type Given = {
  id: string
  at: number
  turn?: number
  parent?: Parent
  end?: Partial<TurnFinished> | null
  isDenied?: boolean
  isPending?: boolean
}

/** A turn of one round with one call and 100 tokens, which runs for 50 ms. `end` null: it is open. */
function turnOf(given: Given): TurnView {
  const { id: conversation, at, turn = 7, parent, end = {}, isDenied, isPending } = given
  const place = { conversation, turn }
  const view = beginTurn(turn, at)
  const messages = [
    { ...turnStarted(), ...place, parent: parent ?? null, agent: 'helper' },
    {
      type: 'model-answered',
      ...place,
      round: 1,
      attempt: 'a',
      text: '',
      textBytes: 0,
      stop: 'calls',
      calls: [call],
      usage,
    },
    ...(isPending ? [{ type: 'approval-pending', ...place, round: 1, calls: [call] }] : []),
    ...(isDenied ? [{ ...callFinished(0, { status: 'denied' }), ...place }] : []),
    ...(end === null ? [] : [{ ...turnFinished(), ...place, ...end }]),
  ] as Message[]
  for (const [i, message] of messages.entries())
    addToTurn(view, { message, time: at + 25 * i, topic: 'activity' }, 'turn')
  return view
}

function treeOf(given: Given[], { max = 100, root = 'boss' } = {}) {
  const tree = beginTree(root, max)
  for (const one of given) addTurnToTree(tree, one.id, turnOf(one))
  return treeTimeline(
    tree,
    new Map([['boss', { usd: 5, requests: 1, unpriced: 0, prices: ['p'] }]]),
  )
}

const places = (given: Given[]) =>
  treeOf(given).lines.map(({ depth, conversation }) => `${depth} ${conversation}`)
const guest = (conversation: string | null): Parent => ({ root: 'boss', conversation })

describe('The tree of a conversation', () => {
  it('has children below the conversation whose call began them, in the order of their beginnings', () => {
    expect(
      places([
        { id: 'call/boss/7/2/0', at: 300 },
        { id: 'call/call/boss/7/1/0/7/1/0', at: 400 },
        { id: 'call/boss/7/1/0', at: 200 },
        { id: 'boss', at: 100 },
      ]),
    ).toEqual(['0 boss', '1 call/boss/7/1/0', '2 call/call/boss/7/1/0/7/1/0', '1 call/boss/7/2/0'])
  })

  it('has a guest below its recorded parent, and states that a parent is not known', () => {
    const given = [
      { id: 'boss', at: 1 },
      { id: 'a', at: 2, parent: guest('boss') },
      { id: 'b', at: 3, parent: guest('a') },
      { id: 'c', at: 4, parent: guest(null) },
    ]
    expect(places(given)).toEqual(['0 boss', '1 a', '2 b', '1 c'])
    expect(treeOf(given).lines.map(({ isParentKnown }) => isParentKnown)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  it('has one line for each conversation whose recorded parents form a circle', () => {
    const given = [
      { id: 'boss', at: 1 },
      { id: 'a', at: 2, parent: guest('b') },
      { id: 'b', at: 3, parent: guest('a') },
      { id: 'c', at: 4, parent: guest('c') },
    ]
    expect(places(given)).toEqual(['0 boss', '1 a', '2 b', '1 c'])
  })

  it('has a chain of ten thousand parents without a deep call', () => {
    const tree = beginTree('boss', 20_000)
    for (let i = 0; i < 10_000; i += 1)
      addTurnToTree(
        tree,
        `c${i}`,
        turnOf({ id: `c${i}`, at: i, parent: guest(i === 0 ? 'boss' : `c${i - 1}`) }),
      )
    expect(treeTimeline(tree, new Map()).lines.at(-1)).toMatchObject({
      conversation: 'c9999',
      depth: 10_000,
    })
  })

  it('sums rounds, calls, tokens, money and the time from the first beginning to the last end', () => {
    const { lines, sum } = treeOf([
      { id: 'boss', at: 100 },
      { id: 'boss', at: 900, turn: 8 },
      { id: 'call/boss/7/1/0', at: 200 },
    ])
    expect(lines[0]).toMatchObject({
      turns: 2,
      calls: 2,
      tokens: 200,
      startedAt: 100,
      durationMs: 850,
    })
    expect(sum).toMatchObject({ conversations: 2, turns: 3, rounds: 3, calls: 3, tokens: 300 })
    expect(sum).toMatchObject({ money: { usd: 5 }, startedAt: 100, endedAt: 950, durationMs: 850 })
  })

  it('counts the calls that were denied, such as those that a cap of the tree held back', () => {
    const { lines, sum } = treeOf([
      { id: 'boss', at: 100, isDenied: true },
      { id: 'boss', at: 900, turn: 8, isDenied: true },
      { id: 'call/boss/7/1/0', at: 200 },
    ])
    expect([...lines, sum].map(({ denied }) => denied)).toEqual([2, 0, 2])
  })

  it('counts the calls of open turns that wait for a person', () => {
    const { lines, sum } = treeOf([
      { id: 'boss', at: 100, isPending: true },
      { id: 'call/boss/7/1/0', at: 200, isPending: true, end: null },
    ])
    expect([...lines, sum].map(({ pending }) => pending)).toEqual([0, 1, 1])
  })

  it('has no end and no duration while a turn is open', () => {
    const { lines, sum } = treeOf([
      { id: 'boss', at: 1, end: null },
      { id: 'call/boss/7/1/0', at: 2 },
    ])
    expect(lines.map(({ outcome, durationMs }) => [outcome, durationMs])).toEqual([
      ['open', null],
      ['answered', 50],
    ])
    expect(sum).toMatchObject({ endedAt: null, durationMs: null })
  })

  it('names the children that failed and those that were stopped, by the end of their last turn', () => {
    const failed = { outcome: 'failed', class: 'provider' } as const
    const stopped = { outcome: 'failed', class: 'stopped' } as const
    const { sum } = treeOf([
      { id: 'boss', at: 1, end: failed },
      { id: 'a', at: 2, parent: guest('boss'), end: failed },
      { id: 'b', at: 3, parent: guest('boss'), end: stopped },
      { id: 'c', at: 4, parent: guest('boss'), end: { outcome: 'cancelled' } },
      { id: 'd', at: 5, parent: guest('boss'), turn: 7, end: failed },
      { id: 'd', at: 6, parent: guest('boss'), turn: 8 },
    ])
    expect(sum).toMatchObject({ failed: ['a'], stopped: ['b', 'c'] })
  })

  it('has at most the given number of conversations, and counts the turns of others', () => {
    const given = ['boss', 'a', 'b', 'a'].map((id, at) => ({ id, at, turn: at }))
    const { lines, sum, turnsLeftOut } = treeOf(given, { max: 2 })
    expect(lines.map(({ conversation }) => conversation)).toEqual(['boss', 'a'])
    expect([sum.turns, turnsLeftOut]).toEqual([3, 1])
  })
})
