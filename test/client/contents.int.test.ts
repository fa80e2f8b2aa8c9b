// Images and files from a question to the model's request: real stages on a real file, the real SDK.

import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'
import { contentPieceBytesMax } from '../../shared/contract/call/contents.ts'
import { limits } from '../../shared/contract/limits.ts'
import { png } from '../support/contents.ts'
import { call, says, text } from '../support/script.ts'

let folder: string
let server: AnthropicServer
let weir: Weir | undefined
let answer: (request: ModelCall, number: number) => Reply
let shown: unknown

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-contents-'))
  answer = () => says(text('Seen.'))
  server = await startAnthropicServer((request, number) => answer(request, number))
})

afterEach(async () => {
  await weir?.close()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

async function open() {
  const agent = defineAgent({
    name: 'viewer',
    system: 'You look at pictures.',
    model: anthropic('m', { baseUrl: server.url, apiKey: 'k' }),
    tools: [
      defineTool({
        name: 'look',
        description: 'Looks',
        parameters: { type: 'object' },
        run: () => shown,
      }),
    ],
  })
  weir = await Weir.open({
    agents: [agent],
    dataFolder: join(folder, 'data'),
    log: pino({ level: 'silent' }),
  })
  return { weir, agent }
}

const image = (data: Uint8Array) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: Buffer.from(data).toString('base64') },
})

const contentOf = (request: ModelCall | undefined, n: number) =>
  request?.messages[n]?.content as unknown[]

describe('a question with images and files', () => {
  it('gives them to the model, also in the next turn and after a restart', async () => {
    const first = await open()
    const large = png(contentPieceBytesMax * 2 + 5, 7)
    const pdf = Buffer.from('%PDF-1.7 a page')
    const conversation = 'c'
    const turn = first.weir.ask({
      agent: first.agent,
      text: 'What is it?',
      conversation,
      images: [png(), { data: large, mediaType: 'image/png' }],
      files: [
        { name: 'a.pdf', data: pdf },
        { name: 'notes.txt', data: 'two chairs' },
      ],
    })
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
    const sent = [
      image(png()),
      image(large),
      {
        type: 'document',
        title: 'a.pdf',
        source: {
          type: 'base64',
          media_type: 'application/pdf',
          data: pdf.toString('base64'),
        },
      },
      { type: 'text', text: 'File "notes.txt":\ntwo chairs' },
    ]
    expect(contentOf(server.requests[0], 0).slice(0, 4)).toEqual(sent)
    await first.weir.close()
    const next = await open()
    await next.weir.ask({ agent: next.agent, text: 'And now?', conversation }).finished
    expect(contentOf(server.requests[1], 0).slice(0, 4)).toEqual(sent)
  })

  it('shows them in the messages of the conversation, without their bytes', async () => {
    const { weir, agent } = await open()
    const conversation = 'c'
    const pdf = Buffer.from('%PDF-1.7 a page')
    const files = [{ name: 'a.pdf', data: pdf }]
    await weir.ask({ agent, text: 'Look.', conversation, images: [png()], files }).finished
    const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')
    const [question] = await weir.conversation(conversation).messages()
    expect(question).toEqual({
      role: 'user',
      turn: expect.any(Number),
      text: 'Look.',
      contents: [
        { type: 'image', name: '', mediaType: 'image/png', bytes: 64, sha256: sha256(png()) },
        {
          type: 'file',
          name: 'a.pdf',
          mediaType: 'application/pdf',
          bytes: pdf.length,
          sha256: sha256(pdf),
        },
      ],
    })
  })

  it.each([
    [{ images: [Buffer.from('%PDF-1.7')] }, 'images[0] is application/pdf'],
    [{ images: [Buffer.from('PK\x03\x04')] }, 'images[0] is of no known type'],
    [
      { images: [{ data: png(), mediaType: 'image/gif' }] },
      'images[0] has the mediaType "image/gif", and its bytes are image/png',
    ],
    [{ images: [new Uint8Array(limits.contentBytesMax + 1)] }, 'it must have at least 1 and'],
    [{ files: [{ name: 'a.png', data: png() }] }, 'give it in images'],
    [{ files: [{ name: ' ', data: 'text' }] }, 'files[0] has no name'],
    [{ images: Array.from({ length: 17 }, () => png()) }, 'has 17 images and files'],
  ])('is refused before anything is written: %#', async (contents, message) => {
    const { weir, agent } = await open()
    expect(() => weir.ask({ agent, text: 'x', ...contents })).toThrow(message)
  })
})

describe('a tool that returns images', () => {
  it('gives them to the model next to its text', async () => {
    shown = ['The chart:', { type: 'image', data: png(), mediaType: 'image/png' }]
    answer = (_, number) => (number === 1 ? says(call('look', {})) : says(text('Seen.')))
    const { weir, agent } = await open()
    expect(await weir.ask({ agent, text: 'x' }).finished).toMatchObject({ outcome: 'answered' })
    const [result] = contentOf(server.requests[1], 2) as { content: { text?: string }[] }[]
    expect(result?.content[0]?.text).toMatch(/^The chart:\n\[image: image\/png, 64 bytes, sha256 /)
    expect(result?.content[1]).toEqual(image(png()))
  })

  it('fails with a reason for the model if its image has another type', async () => {
    shown = { type: 'image', data: Buffer.from('%PDF-1.7') }
    answer = (_, number) => (number === 1 ? says(call('look', {})) : says(text('Seen.')))
    const { weir, agent } = await open()
    await weir.ask({ agent, text: 'x' }).finished
    const [result] = contentOf(server.requests[1], 2) as { content: string }[]
    expect(result?.content).toContain('an image of the result is application/pdf')
  })
})

describe('a redacted bundle', () => {
  it('has no image and no file, which no rule can read', async () => {
    const { weir, agent } = await open()
    const data = png(1_000, 7)
    const files = [{ name: 'notes.txt', data: 'two chairs' }]
    await weir.ask({ agent, text: 'What is it?', conversation: 'c', images: [data], files })
      .finished
    const rules = join(folder, 'rules.json')
    await writeFile(rules, '{"rules":[{"name":"word","pattern":"What"}]}')
    const [plain, redacted] = [join(folder, 'plain.weir'), join(folder, 'redacted.weir')]
    await weir.conversation('c').export(plain)
    const { leftOut } = await weir.conversation('c').export(redacted, { redact: rules })
    const has = async (file: string, bytes: Buffer | string) =>
      (await readFile(file)).includes(bytes)
    const middle = Buffer.from(data.subarray(200, 600))
    expect([await has(plain, middle), await has(plain, 'two chairs')]).toEqual([true, true])
    expect([await has(redacted, middle), await has(redacted, 'two chairs')]).toEqual([false, false])
    expect(leftOut).toBeGreaterThanOrEqual(2)
  })
})
