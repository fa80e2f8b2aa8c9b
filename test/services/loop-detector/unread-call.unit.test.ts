import { describe, expect, it } from '@jest/globals'
import type { TextCallsHold } from '../../../shared/contract/messages.ts'
import { actions, empty, failing, ok, one, played, type Step, says } from './rounds.ts'

/** Each with other words, because three equal texts are a monologue too. */
function unread(words: string): Step {
  const textCalls = {
    dialect: 'json',
    repairs: [],
    fault: "missing required field 'path'",
    held: null,
  }
  return {
    fields: {
      response: {
        text: `{"name":"write","arguments":{"note":"${words}"}}`,
        stop: 'end',
        textCalls,
      },
    },
  }
}

function heldBy(held: TextCallsHold, words: string): Step {
  const textCalls = { dialect: 'json', repairs: [], fault: 'only native tool calls run here', held }
  return { fields: { response: { text: words, stop: 'end', textCalls } } }
}

const ran = one('read', {}, ok('a'))

describe('a text with a call that was held', () => {
  it('gets the reason in an ordinary reminder', () => {
    const [intervention] = played(heldBy('tell', 'a'))
    expect(intervention).toMatchObject({ action: 'nudge', ordinary: true, rule: 'unread-call' })
    expect(intervention?.text).toContain('it was not run: only native tool calls run here.')
  })

  it.each<[TextCallsHold, string]>([
    ['tell', 'write it again with a sentence around it that says what it is.'],
    ['echo', 'write it again. The second time it is your answer.'],
    ['frame', 'write it again. The second time it is your answer.'],
    ['shape', 'write it again. The second time it is your answer.'],
  ])('gets the way to make it the answer: %s', (held, way) => {
    const line = played(heldBy(held, 'a'))[0]?.text.split('\n').at(-1)
    expect(line).toBe(`If it was meant as your answer, ${way}`)
  })

  it('gets a last request without tools if it is only a call, again', () =>
    expect(actions(heldBy('tell', 'a'), heldBy('tell', 'b'))).toEqual(['(nudge)', 'text_only']))

  it.each(['echo', 'frame', 'shape'] as const)('is the reply if it comes again: %s', (held) =>
    expect(actions(heldBy(held, 'a'), heldBy(held, 'b'), heldBy(held, 'c'))).toEqual([
      ...['(nudge)', '-', '-'],
    ]),
  )

  it('gets another reminder after a call, two in a turn', () =>
    expect(
      actions(heldBy('tell', 'a'), ran, heldBy('tell', 'b'), ran, heldBy('tell', 'c')),
    ).toEqual(['(nudge)', '-', '(nudge)', '-', 'text_only']))

  it('gets no reminder if no tool can be called', () => {
    const { fields } = heldBy('tell', 'a')
    expect(actions({ fields: { ...fields, callsLeft: 0 } })).toEqual(['-'])
  })
})

describe('a text that is built like a call and cannot run', () => {
  it('gets the reason in an ordinary reminder', () => {
    const [intervention] = played(unread('a'))
    expect(intervention).toMatchObject({ action: 'nudge', ordinary: true, rule: 'unread-call' })
    expect(intervention?.text).toContain("could not be run: missing required field 'path'.")
  })

  it('gets two reminders in a turn, in any rounds, and then is the reply', () => {
    expect(
      actions(unread('a'), one('read', {}, failing('no')), unread('b'), empty(), unread('c')),
    ).toEqual([...['(nudge)', '-', '(nudge)', '(nudge)', '-']])
  })

  it('gets no reminder if no tool can be called', () => {
    const last = unread('a')
    expect(actions({ fields: { ...last.fields, callsLeft: 0 } })).toEqual(['-'])
  })

  it('differs from a plain text, which gets no reminder', () =>
    expect(actions(says('Done.'))).toEqual(['-']))
})
