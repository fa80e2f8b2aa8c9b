// Whole conversations are tested in redaction-command.e2e.test.ts.

import { describe, expect, it } from '@jest/globals'
import type { CallFinished, RedactRule } from '../../../../shared/contract/messages.ts'
import { redactedActivity, rulesIn } from '../../../../shared/runtime/redaction/agent-redaction.ts'

const email: RedactRule = { name: 'email', pattern: null, path: null }
const order: RedactRule = { name: 'order', pattern: String.raw`ORD-\d{6}`, path: null }
const password: RedactRule = { name: 'password', pattern: null, path: 'arguments.password' }

function finished(result: string, reason = ''): CallFinished {
  return {
    type: 'call-finished',
    conversation: 'c',
    turn: 1,
    round: 1,
    ordinal: 0,
    name: 'login',
    status: 'ok',
    reason,
    durationMs: 1,
    result,
    resultBytes: 1,
    resultId: '',
    guard: '',
  }
}

function shown(result: string, rules: RedactRule[], raw = '{}'): string {
  return redactedActivity(finished(result), rules, [{ ordinal: 0, name: 'login', raw }]).result
}

describe('an activity record of an agent with rules', () => {
  it('has the name of a rule in place of its values, and is the same each time', () => {
    const text = 'Sent to ann@mail.example, order ORD-123456.'
    expect(shown(text, [email, order])).toBe('Sent to [email], order [order].')
    expect(shown(text, [email, order])).toBe(shown(text, [email, order]))
    expect(redactedActivity(finished('', 'no ann@mail.example'), [email]).reason).toBe('no [email]')
  })

  it('has no value of an argument that its result repeats', () => {
    const raw = '{"user":"ann","password":"hunter-22"}'
    expect(shown('ann has hunter-22 and "hunter\\u002d22"', [password], raw)).toBe(
      'ann has [password] and "[password]"',
    )
  })

  it('takes any name of a rule as a text, never as an expression', () => {
    const text = `ann@mail.example ${'a'.repeat(40)}-`
    for (const name of ['(', '[', 'a|b', '.*', '(a+)+$', ''])
      expect(shown(text, [{ name, pattern: '[a-z]+@[a-z.]+', path: null }])).toBe(
        text.replace('ann@mail.example', `[${name}]`),
      )
  })

  it('stays as it is without rules', () => {
    const record = finished('ann@mail.example')
    expect(redactedActivity(record, [])).toBe(record)
  })

  it('shows no text at all with a rule that this version cannot use', () => {
    for (const rule of [
      { name: 'made-up', pattern: null, path: null },
      { name: 'bad', pattern: '(?=x)', path: null },
      { name: 'far', pattern: null, path: 'elsewhere.x' },
    ])
      expect(shown('ann@mail.example', [rule])).toBe(`[${rule.name}]`)
  })
})

describe('the rules in a record', () => {
  it('are those of its policy, of its settings, and of the messages that wait in a queue', () => {
    const policy = { redact: [email] }
    const of = (message: object) => rulesIn(message as Parameters<typeof rulesIn>[0])
    expect(of({ type: 'round-cleared', policy })).toEqual([email])
    expect(of({ type: 'user-message', settings: { policy } })).toEqual([email])
    expect(of({ type: 'carried', state: { queue: [{ settings: { policy } }] } })).toEqual([email])
    expect(of({ type: 'history-entry', redact: [order] })).toEqual([order])
    expect(of({ type: 'tick' })).toEqual([])
  })
})
