// Arguments that no caller would write. A model, or a text that instructs it, may write any JSON.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { actions, declared, failing, ok, type Step, toolCall } from '../rounds.ts'

/** Its text is an error: `String(noText)` throws. */
const noText = { toString: 1, valueOf: 1 }
const tools = ['bash', 'send_message', 'read_file', 'sleep', 'echo', 'check_status', 'x']
const names = [
  'command cmd script code action method id message_id request_id to text body message',
  'path file session_id pid input chars wait block is_input yield_time_ms attempt nonce from',
  'patch content description toString valueOf toJSON constructor length __proto__',
].flatMap((list) => list.split(' '))

const mutating = (name: string) =>
  declared(name, {
    hints: {
      mutates: true,
      ignoreFields: ['description', 'body.text'],
      loopKey: ['id'],
      denial: null,
      labels: [],
      client: false,
      once: null,
    },
  })

/** Two equal rounds, because rules remember the first one. */
function rounds(tool: string, raw: string, text: string, isFailed: boolean): Step[] {
  const step: Step = {
    calls: [[toolCall(tool, raw), isFailed ? failing(text) : ok(text)]],
    fields: { declarations: [tool === 'send_message' ? mutating(tool) : declared(tool)] },
  }
  return [step, step]
}

const text = 'It is done for you.'

describe('arguments without a text', () => {
  it.each<[string, string, unknown]>([
    ['a word of a command', 'bash', { command: [noText] }],
    ['a flag of a command', 'bash', { command: ['bash', noText, 'ls'] }],
    ['a script of a command', 'bash', { command: ['bash', '-c', noText] }],
    ['a command of a tool without a shell', 'x', { command: [noText] }],
    ['the id of a message', 'send_message', { to: 'ann', id: noText, text }],
    ['the id of a request', 'send_message', { request_id: [noText], text }],
    ['a member next to the id', 'send_message', { to: 'ann', id: 'a1', text, more: noText }],
  ])('are judged like any others: %s', (_, tool, value) =>
    expect(actions(...rounds(tool, JSON.stringify(value), 'ok', false))).toEqual(['-', '-']),
  )

  it('are judged for any JSON in any member', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.constantFrom<unknown>(noText, null, true, 7, 1e21, '', text, 'sleep 5', '/a/b7f4.txt'),
        fc.constantFrom<unknown>(['bash', '-lc'], ['bash', '-lc', 'sleep 9'], '*** Begin Patch'),
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 5 }),
      ),
    }))
    fc.assert(
      fc.property(
        fc.constantFrom(...tools),
        fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 }),
        fc.oneof(fc.constantFrom('', 'running', 'Error: no.'), fc.json({ maxDepth: 2 })),
        fc.boolean(),
        (tool, argument, result, isFailed) => {
          expect(actions(...rounds(tool, JSON.stringify(argument), result, isFailed))).toHaveLength(
            2,
          )
        },
      ),
      { numRuns: 600 },
    )
  })
})
