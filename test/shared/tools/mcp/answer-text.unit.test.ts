import { describe, expect, it } from '@jest/globals'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { masked } from '../../../../services/loop-detector/evidence/mask.ts'
import { answered, wholeText } from '../../../../shared/tools/mcp/answer-text.ts'

const text = (...texts: string[]) => texts.map((one) => ({ type: 'text' as const, text: one }))
const image = (data: string) => ({ type: 'image' as const, mimeType: 'image/png', data })
const blob = (data: string) => ({ type: 'resource' as const, resource: { uri: 'a:b', blob: data } })
const link = (size: number) => ({ type: 'resource_link' as const, uri: 'a:b', name: 'b', size })
const page = (uri: string) => ({ type: 'resource' as const, resource: { uri, text: 'Same.' } })

describe('the text of an MCP answer', () => {
  it.each<[string, (n: number) => CallToolResult]>([
    [
      'structured content beside a constant text',
      (n) => ({ content: text('See structured content.'), structuredContent: { a: n } }),
    ],
    ['pictures', (n) => ({ content: [image(Buffer.from(`${n}`).toString('base64'))] })],
    ['binary resources', (n) => ({ content: [blob(Buffer.from(`${n}`).toString('base64'))] })],
    ['links', (n) => ({ content: [link(n)] })],
    ['resources with the same text', (n) => ({ content: [page(`file:///${n}`)] })],
  ])('differs for the loop rules if the answers differ only in %s', (_, answerOf) => {
    const texts = Array.from({ length: 20 }, (_, n) => masked(wholeText(answerOf(n))))
    expect(new Set(texts).size).toBe(20)
    expect(wholeText(answerOf(1))).toBe(wholeText(answerOf(1)))
  })

  it.each<[string, string[], Record<string, unknown>]>([
    ['as JSON', ['{ "a": [1, "x"] }'], { a: [1, 'x'] }],
    ['beside other text', ['Found:', '{"a":1}'], { a: 1 }],
    ['as a wrapped text', ['Sunny.'], { result: 'Sunny.' }],
    ['as a wrapped number', ['18'], { result: 18 }],
    ['as a wrapped list', ['Rome', '{"n":1}'], { result: ['Rome', { n: 1 }] }],
  ])('has structured content once if its text has the value %s', (_, texts, structuredContent) => {
    expect(wholeText({ content: text(...texts), structuredContent })).toBe(texts.join('\n'))
  })

  it('has structured content after a text that has only a part of it', () => {
    const answer = { content: text('18 °C'), structuredContent: { celsius: 18, wind: 2 } }
    expect(wholeText(answer)).toBe('18 °C\n{"celsius":18,"wind":2}')
  })

  it('names the kind, the size and the hash of content that no model reads', () => {
    expect(wholeText({ content: [image('AAAA')] })).toMatch(
      /^\[image content is left out: image\/png, 3 bytes, hash [a-p]{16}\]$/,
    )
  })
})

describe('a cut answer that a host gets whole', () => {
  it.each([true, false])('has a hash of all of it only then (%s)', (isForwarded) => {
    const shown = (end: string) =>
      answered({ content: text(`beginning ${end}`) }, { outputBytesMax: 10, isForwarded }).text
    expect(shown('1') === shown('2')).toBe(!isForwarded)
  })
})
