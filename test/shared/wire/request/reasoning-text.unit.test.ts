import { expect, it } from '@jest/globals'
import { reasoningText } from '../../../../shared/wire/request/reasoning-text.ts'

const model = 'm'

it.each([
  ['an Anthropic block', { type: 'thinking', thinking: 'So.', signature: 's' }, 'So.'],
  ['a redacted block', { type: 'redacted_thinking', data: 'x' }, ''],
  [
    'an item of the Responses API',
    { model, calls: 0, item: { type: 'reasoning', summary: [{ text: 'So' }, { text: '.' }] } },
    'So.',
  ],
  ['the phase of a message', { model, calls: 0, phase: 'final', chars: 3 }, ''],
  ['a field of Chat Completions', { model, reasoning_content: 'So.' }, 'So.'],
  ['details', { model, reasoning_details: [{ type: 'reasoning.summary', summary: 'So.' }] }, 'So.'],
  ['both fields', { model, reasoning: 'So.', reasoning_details: [{ text: 'So.' }] }, 'So.'],
  ['parts of a content', { model, content_thinking: 'So.' }, 'So.'],
  ['a value that is no text', { type: 'thinking', thinking: 7 }, ''],
])('reads the reasoning of %s', (_, block, text) => {
  expect(reasoningText(JSON.stringify([block, null]))).toBe(text)
})

it('separates blocks with a blank line', () => {
  const block = (thinking: string) => ({ type: 'thinking', thinking })
  expect(reasoningText(JSON.stringify([block('One.'), block('Two.')]))).toBe('One.\n\nTwo.')
})

it.each(['', '[]', '[{]', '{}'])('has no text for %j', (reasoning) => {
  expect(reasoningText(reasoning)).toBe('')
})
