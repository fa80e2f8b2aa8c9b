import { describe, expect, it } from '@jest/globals'
import { empty, failing, one, played, rungs, type Step, says } from './rounds.ts'

/** Each with other words, because three equal texts are a monologue too. */
function unread(words: string): Step {
  const textCalls = {
    ...{ dialect: 'json', repairs: [], fault: "missing required field 'path'" },
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

describe('a text that is built like a call and cannot run', () => {
  it('gets the reason in an ordinary reminder', () => {
    const [intervention] = played(unread('a'))
    expect(intervention).toMatchObject({ rung: 'nudge', ordinary: true, rule: 'unread-call' })
    expect(intervention?.text).toContain("could not be run: missing required field 'path'.")
  })

  it('gets two reminders in a turn, in any rounds, and then is the reply', () => {
    expect(
      rungs(unread('a'), one('read', {}, failing('no')), unread('b'), empty(), unread('c')),
    ).toEqual([...['(nudge)', '-', '(nudge)', '(nudge)', '-']])
  })

  it('gets no reminder if no tool can be called', () => {
    const last = unread('a')
    expect(rungs({ fields: { ...last.fields, callsLeft: 0 } })).toEqual(['-'])
  })

  it('differs from a plain text, which gets no reminder', () =>
    expect(rungs(says('Done.'))).toEqual(['-']))
})
