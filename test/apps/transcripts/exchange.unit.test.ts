// A request and its answer on a line of a log.

import { describe, expect, it } from '@jest/globals'
import { exchangeIn } from '../../../apps/transcripts/exchange.ts'
import { formatNamed } from '../../../apps/transcripts/formats.ts'
import { createLeftOut } from '../../../shared/transcript/left-out.ts'
import { transcriptOf } from '../../../shared/transcript/transcript.ts'

/** The model's text in a line, its calls as `tool=result`, and the parts left out. */
function saidIn(line: object, format = 'openai') {
  const leftOut = createLeftOut()
  const { turns } = transcriptOf(
    'log',
    'c',
    formatNamed(format).read(exchangeIn(line, undefined), 'log'),
    leftOut,
  )
  const responses = turns.flatMap((turn) => turn.responses)
  return {
    said: responses.flatMap(({ text, calls }) => [
      ...(text === '' ? [] : [text]),
      ...calls.map(
        ({ name, result }) => `${name}=${typeof result === 'object' ? result.text : result}`,
      ),
    ]),
    tokens: responses.map(({ usage }) => usage.outputTokens).reduce((sum, one) => sum + one, 0),
    leftOut: leftOut.lines(),
  }
}

const asked = { role: 'user', content: 'What is X?' }
const hi = { role: 'assistant', content: 'hi' }
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', function: { name: 'exec', arguments: '{"a": 1}' } }],
}
const calledAgain = {
  ...called,
  tool_calls: [{ id: 'c1', function: { name: 'exec', arguments: '{"a":1}' } }],
}
const choice = (message: object) => ({
  choices: [{ message, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 5 },
})

describe('a request and its answer', () => {
  it.each([
    ['a text', { messages: [asked, hi], output: 'hi' }, { said: ['hi'], tokens: 0 }],
    ['a message', { messages: [asked, hi], response: choice(hi) }, { said: ['hi'], tokens: 5 }],
    [
      'a call',
      { messages: [asked, called], response: choice(calledAgain) },
      { said: ['exec=undefined'], tokens: 5 },
    ],
    [
      'its last part',
      { messages: [asked, hi, called], response: choice(calledAgain) },
      { said: ['hi', 'exec=undefined'], tokens: 5 },
    ],
  ])('are one answer if the request already contains it, as %s', (_, line, told) => {
    expect(saidIn(line)).toEqual({ ...told, leftOut: [] })
  })

  it.each([
    [
      'in a request',
      {
        request: { messages: [asked, called, { role: 'tool', tool_call_id: 'c1', content: 'A' }] },
      },
      ['exec=A', 'X is'],
    ],
    [
      'in a list',
      { body: [asked, called, { role: 'tool', tool_call_id: 'c1', content: 'A' }] },
      ['exec=A', 'X is'],
    ],
    ['nowhere, but for a list of something else', { log: ['started'] }, ['X is']],
    ['nowhere, but for items of something else', { data: { items: [{ price: 1 }] } }, ['X is']],
    ['nowhere', {}, ['X is']],
  ])('are read if the question is next to the answer: %s', (_, more, said) => {
    expect(saidIn({ input: asked.content, ...more, output: 'X is' })).toEqual({
      said,
      tokens: 0,
      leftOut: [],
    })
  })

  it('leaves out and counts a different answer of OpenAI next to a request that contains its answer', () => {
    expect(saidIn({ messages: [asked, hi], result: 'pass' })).toEqual({
      said: ['hi'],
      tokens: 0,
      leftOut: ['left out: an answer to a request that ends with another one (log answer)'],
    })
  })

  it('continues the prefilled text at the end of an Anthropic request, but not a whole answer in it', () => {
    const begun = { role: 'assistant', content: 'X is' }
    expect(
      saidIn(
        { messages: [asked, begun], response: { content: [{ type: 'text', text: ' Y.' }] } },
        'anthropic',
      ).said,
    ).toEqual(['X is Y.'])
    expect(
      saidIn(
        { messages: [asked, begun], response: { content: [{ type: 'text', text: 'X is' }] } },
        'anthropic',
      ).said,
    ).toEqual(['X is'])
  })
})
