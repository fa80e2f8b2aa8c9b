// Requests of a server for input of a person. Whole calls are tested with a server of the SDK.

import { describe, expect, it } from '@jest/globals'
import { answerInput } from '../../../../shared/tools/mcp/elicitation.ts'
import type { PersonAnswer } from '../../../../shared/tools/tool.ts'

const form = {
  message: 'Which seat?',
  requestedSchema: {
    type: 'object' as const,
    properties: { seat: { type: 'string' as const } },
  },
}

describe('requests for input', () => {
  it('that wait after another one are cancelled without a question when the call is over', async () => {
    let left = 60_000
    let waiting = 0
    const answers: ((answer: PersonAnswer) => void)[] = []
    const answer = answerInput({
      server: 's',
      hide: (text) => text,
      onRefused: () => {},
      leftMs: () => left,
      ask: () => new Promise((resolve) => answers.push(resolve)),
      onWait() {
        waiting += 1
        return () => {
          waiting -= 1
        }
      },
    })
    const [first, second] = [answer(form), answer(form)]
    await new Promise(setImmediate)
    expect([answers.length, waiting]).toEqual([1, 1])
    left = 0
    answers[0]?.({ answer: 'accept', values: '{"seat":"aisle"}' })
    expect(await first).toEqual({ action: 'accept', content: { seat: 'aisle' } })
    expect(await second).toEqual({ action: 'cancel' })
    expect([answers.length, waiting]).toEqual([1, 0])
  })
})
