import { describe, expect, it } from '@jest/globals'
import { empty, failing, one, played, rungs, type Step, says } from './rounds.ts'

/** Each in other words: the same text three times is a monologue besides. */
function unread(words: string): Step {
  const textCalls = { dialect: 'json', repairs: [], fault: "missing required field 'path'" }
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
  it('is answered with the reason, as an ordinary reminder', () => {
    const [intervention] = played(unread('a'))
    expect(intervention).toMatchObject({ rung: 'nudge', ordinary: true, rule: 'unread-call' })
    expect(intervention?.text).toContain("could not be run: missing required field 'path'.")
  })

  it('is answered twice in a turn, whatever stands between, and then it is the reply', () => {
    expect(
      rungs(unread('a'), one('read', {}, failing('no')), unread('b'), empty(), unread('c')),
    ).toEqual([...['(nudge)', '-', '(nudge)', '(nudge)', '-']])
  })

  it('is not answered where no tool can be called', () => {
    const last = unread('a')
    expect(rungs({ fields: { ...last.fields, callsLeft: 0 } })).toEqual(['-'])
  })

  it('is nothing where the text is only text', () => expect(rungs(says('Done.'))).toEqual(['-']))
})
