// The round of a stream with joined text deltas is the round of the stream: recorded streams, streams
// made for this, and mutants of both.

import { describe, expect, it } from '@jest/globals'
import { roundIn } from '../../../apps/http/fronts/proxy/answer-copy.ts'
import { wholeFormat } from '../../../shared/wire/formats.ts'
import { openaiChat } from '../../../shared/wire/openai-chat/format.ts'
import type { ModelFormat } from '../../../shared/wire/proxied.ts'
import { modelFormats } from '../../support/model-formats.ts'
import { type Api, streamFixtures } from '../../support/provider-streams.ts'

const apis = modelFormats.map((format): [Api, ModelFormat] => [format.name as Api, format])

const pieces = [
  'List',
  'ing ',
  '',
  'é',
  'a\nb',
  '"',
  '\\',
  '\ud83d',
  '\ude00',
  '}}',
  '\t',
  '[DONE]',
]

const anthropicStream = (texts: readonly string[], padding = ''): string =>
  [
    { type: 'message_start', message: { id: 'm', type: 'message', content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'A' } },
    ...texts.map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'one' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'two' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}${padding}\n\n`)
    .join('')

const chatStream = (texts: readonly string[]): string =>
  [
    ...texts.map((content, n) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          delta: n === 0 ? { role: 'assistant', content } : { content },
          logprobs: null,
          finish_reason: null,
        },
      ],
    })),
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .concat('data: [DONE]\n\n')
    .join('')

const words = Array.from({ length: 40 }, (_, n) => ` word${n}`)
const made: [Api, string, string][] = [
  ['anthropic', 'words', anthropicStream(words)],
  ['anthropic', 'filled events', anthropicStream(words, '     ')],
  ['anthropic', 'odd pieces', anthropicStream([...words, ...pieces, ...words, ...pieces])],
  ['openai-chat', 'words', chatStream(words)],
  ['openai-chat', 'odd pieces', chatStream([...words, ...pieces, ...words, ...pieces])],
]

const streams = apis.flatMap(([name, api]) => [
  ...made.filter(([of]) => of === name).map(([, title, text]) => ({ title, api, text })),
  ...(streamFixtures(name) ?? []).map((fixture) => ({
    title: `${name} ${fixture.name}`,
    api,
    text: fixture.bytes.toString('utf8'),
  })),
])

/** `joins`: reads the stream as the proxy does. Otherwise event by event. */
const roundOf = (api: ModelFormat, text: string, joins: boolean) =>
  roundIn(api, Buffer.from(text), { 'content-type': joins ? 'text/event-stream' : 'text/x-events' })

/** A stream with one byte, event or head changed. The same in every run. */
function* mutantsOf(text: string, count: number): Generator<string> {
  let state = text.length
  const random = (below: number) => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const marks = [
    '"',
    '\\',
    '\n',
    '\n\n',
    '}',
    '\u0000',
    '\\u00',
    ':',
    'data: ',
    '"}}\n\n',
    '\r',
    'x',
  ]
  for (let n = 0; n < count; n += 1) {
    const at = random(text.length)
    const end = n % 3 === 0 ? at : Math.min(text.length, at + 1 + random(n % 3 === 1 ? 3 : 200))
    const put = n % 2 === 0 ? (marks[random(marks.length)] ?? '') : ''
    yield text.slice(0, at) + put + text.slice(end)
  }
}

describe('a stream with joined text deltas', () => {
  it.each(made)('of %s has fewer events: %s', (name, _, text) => {
    const format = modelFormats.find((one) => one.name === name)
    const joined = format?.stream.joined?.(text) ?? text
    const events = (of: string) => of.split('\n\n').length
    expect(events(joined)).toBeLessThan(events(text) / 1.5)
  })

  it.each(streams)('makes the same round, also with an error in it: $title', async (stream) => {
    const { api, text } = stream
    expect(await roundOf(api, text, true)).toEqual(await roundOf(api, text, false))
    for (const mutant of mutantsOf(text, 60))
      expect([mutant, await roundOf(api, mutant, true)]).toEqual([
        mutant,
        await roundOf(api, mutant, false),
      ])
  })

  it('may have the size of the largest answer', async () => {
    const text = chatStream(Array.from({ length: 40_000 }, () => 'a'))
    expect(await roundOf(await wholeFormat(openaiChat), text, true)).toMatchObject({
      text: 'a'.repeat(40_000),
    })
  })
})
