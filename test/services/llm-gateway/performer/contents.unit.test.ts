import { describe, expect, it } from '@jest/globals'
import { readContents } from '../../../../services/llm-gateway/performer/contents.ts'
import { inPlainText } from '../../../../services/llm-gateway/performer/providers/plain-request.ts'
import {
  contentNote,
  contentOf,
  contentPieceBytesMax,
  contentRef,
  piecesOf,
  type WholeContent,
} from '../../../../shared/contract/call/contents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { contentKey } from '../../../../shared/contract/topology.ts'
import { messageRequest } from '../../../../shared/wire/anthropic/request.ts'
import type { ProviderRequest } from '../../../../shared/wire/exchange.ts'
import { chatRequest } from '../../../../shared/wire/openai-chat/request/request.ts'
import { responsesRequest } from '../../../../shared/wire/openai-responses/request.ts'
import { contentsIn } from '../../../../shared/wire/request/contents.ts'
import { historyTooLarge } from '../../../../shared/wire/request/history-size.ts'
import { png } from '../../../support/contents.ts'
import { agentOf, call, modelSays, result, userSays } from '../samples.ts'

const image = contentOf(png(), 'image/png')
const pdf = contentOf(Buffer.from('%PDF-1.7'), 'application/pdf', 'a.pdf')
const note = contentOf(Buffer.from('blue'), 'text/plain', 'n.txt')
const chart = contentOf(png(70, 3), 'image/png')
const all = [image, pdf, note, chart]

const history = [
  { ...userSays('What is it?'), contents: [image, pdf, note].map(contentRef) },
  modelSays({ calls: [call()] }, { results: [result({ contents: [contentRef(chart)] })] }),
  { ...userSays('And now?'), turn: 9 },
]

const request: ProviderRequest = {
  nudge: null,
  tools: [],
  textOnly: false,
  rebuilt: false,
  history,
  contents: new Map(all.map(({ hash, data }) => [hash, data])),
}

const url = ({ data, mediaType }: WholeContent) =>
  `data:${mediaType};base64,${Buffer.from(data).toString('base64')}`

describe('the images and files of a history', () => {
  const noteText = 'File "n.txt":\nblue'

  it('are parts of Chat Completions messages, those of results in a message of the user', () => {
    const { messages } = chatRequest(agentOf(), request)
    expect(messages[1]?.content).toEqual([
      { type: 'image_url', image_url: { url: url(image) } },
      { type: 'file', file: { filename: 'a.pdf', file_data: url(pdf) } },
      { type: 'text', text: noteText },
      { type: 'text', text: 'What is it?' },
    ])
    expect(messages.slice(3).map(({ role }) => role)).toEqual(['tool', 'assistant', 'user'])
    expect(messages[3]?.content).toBe('done')
    expect(messages[5]?.content).toEqual([
      { type: 'image_url', image_url: { url: url(chart) } },
      { type: 'text', text: '(The images of the results above.)' },
      { type: 'text', text: 'And now?' },
    ])
  })

  it('are parts of Responses items, those of results in their output', () => {
    const { input } = responsesRequest(agentOf(), request)
    expect(input?.[0]).toEqual({
      role: 'user',
      content: [
        { type: 'input_image', detail: 'auto', image_url: url(image) },
        { type: 'input_file', filename: 'a.pdf', file_data: url(pdf) },
        { type: 'input_text', text: noteText },
        { type: 'input_text', text: 'What is it?' },
      ],
    })
    expect(input?.[2]).toMatchObject({
      type: 'function_call_output',
      output: [{ type: 'input_image', image_url: url(chart) }, { text: 'done' }],
    })
  })

  it('survive a request in plain text and a rebuilt history', () => {
    const plain = messageRequest(agentOf(), { ...inPlainText(request), rebuilt: true })
    const images = JSON.stringify(plain).match(/"type":"image"/g)
    expect(images).toHaveLength(2)
  })

  it('are notes without their bytes where nobody has read them', () => {
    const { contents: _, ...unread } = request
    const text = JSON.stringify(messageRequest(agentOf(), unread).messages)
    expect(text).not.toContain('"type":"image"')
    expect(text).toContain(JSON.stringify(contentNote(image)).slice(1, -1))
  })

  it('count as base64 in the bytes of a history', () => {
    const half = { ...contentRef(image), bytes: limits.historyBytesMax * 0.4 }
    const heavy = { ...userSays('x'), contents: [half, half] }
    expect(historyTooLarge([heavy])?.class).toBe('context_full')
    expect(historyTooLarge([{ ...heavy, contents: [half] }])).toBeUndefined()
  })
})

describe('the pieces of a content', () => {
  const large = contentOf(png(contentPieceBytesMax + 9), 'image/png')
  const question = { ...userSays('x'), contents: [contentRef(large)] }

  function tableOf(change: (data: Buffer, piece: number) => Buffer | undefined) {
    const table = new Map<string, Message>()
    for (const { hash, piece, data } of piecesOf(large)) {
      const changed = change(data, piece)
      if (changed === undefined) continue
      const kept = { type: 'content-kept', conversation: 'c', hash, piece, data: changed } as const
      table.set(contentKey(kept), kept)
    }
    return { kept: async (key: string) => table.get(key) }
  }

  it('make it again', async () => {
    const read = await readContents(
      tableOf((data) => data),
      [question],
    )
    expect(read).toEqual(new Map([[large.hash, Buffer.from(large.data)]]))
  })

  it.each<[string, (data: Buffer, piece: number) => Buffer | undefined]>([
    ['one is missing', (data, piece) => (piece === 1 ? undefined : data)],
    ['one has other bytes', (data, piece) => (piece === 1 ? Buffer.alloc(data.length, 1) : data)],
  ])('are refused if %s', async (_, change) => {
    const read = await readContents(tableOf(change), [question])
    expect(read).toContain('is not in the history with these bytes')
  })

  it('are not read for a reference that no message may have', async () => {
    const forged = { ...question, contents: [{ ...contentRef(large), pieces: 1_000_000 }] }
    const never = { kept: () => Promise.reject(new Error('read')) }
    expect(await readContents(never, [forged])).toContain('in 1000000 pieces')
    expect(contentsIn([forged])).toHaveLength(1)
  })
})
