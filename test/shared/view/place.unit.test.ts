import { describe, expect, it } from '@jest/globals'
import type { Message } from '../../../shared/contract/messages.ts'
import { placeOf } from '../../../shared/view/place.ts'
import { addToTurn, beginTurn, type Detail } from '../../../shared/view/turn-view.ts'
import { callFinished, roundStarted, toolStarted, turnStarted } from '../../support/activity.ts'

function viewOf(messages: readonly Message[], detail: Detail = 'state') {
  const view = beginTurn(7, 1)
  for (const [time, message] of messages.entries())
    addToTurn(view, { topic: 'activity', time, message }, detail)
  return view
}

const answered = (round: number): Message => ({
  type: 'model-answered',
  conversation: 'c',
  turn: 7,
  round,
  attempt: 'a',
  text: 'a text',
  textBytes: 6,
  calls: [
    {
      ordinal: 0,
      id: '',
      name: 'exec',
      arguments: '{"a":1}',
      argumentsBytes: 7,
      problem: null,
    },
  ],
  stop: 'calls',
  usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
})

describe('the place of an open turn', () => {
  it('is that of its newest round: a late record of an earlier round changes nothing', () => {
    const late = [turnStarted(), roundStarted(1), roundStarted(2), answered(1), toolStarted()]
    expect(placeOf(viewOf(late))).toEqual({ at: 'model' })
  })

  it('is the tool, although the response of a guest is written before the beginning of its round', () => {
    expect(placeOf(viewOf([turnStarted(), answered(1), roundStarted(1)]))).toEqual({
      at: 'tool',
      names: [],
    })
  })
})

describe('an open turn that is followed', () => {
  it('keeps its newest round, and an older one only while a call of it runs', () => {
    const running = [roundStarted(1), answered(1), toolStarted(), roundStarted(2), answered(2)]
    expect([...viewOf(running).rounds.keys()]).toEqual([1, 2])
    const over = [...running, callFinished(), roundStarted(3)]
    expect([...viewOf(over).rounds.keys()]).toEqual([3])
  })

  it('keeps no text, if only its state is followed', () => {
    const kept = (detail: Detail) => viewOf([roundStarted(1), answered(1)], detail).rounds.get(1)
    expect(kept('state')?.stage['model-answered']?.message).toMatchObject({
      text: '',
      calls: [{ arguments: '' }],
    })
    expect(kept('open')?.stage['model-answered']?.message).toMatchObject({ text: 'a text' })
    expect(kept('open')?.calls.get(0)?.answered).toMatchObject({ arguments: '{"a":1}' })
  })
})
