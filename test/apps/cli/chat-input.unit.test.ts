import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { type ChatInput, createChatInput } from '../../../apps/cli/chat-input.ts'

const errors = new PassThrough() as unknown as NodeJS.WriteStream
const piped = (...chunks: (string | Uint8Array)[]) =>
  createChatInput({ input: Readable.from(chunks.map((chunk) => Buffer.from(chunk))), errors })

async function all(input: ChatInput): Promise<string[]> {
  const texts: string[] = []
  for (;;) {
    const text = await input.next()
    if (text === undefined) return texts
    texts.push(text)
  }
}

describe('a piped chat', () => {
  it('has one message per line', async () => {
    expect(await all(piped('one\ntw', 'o\r\n\nthree'))).toEqual(['one', 'two', '', 'three'])
  })

  it('joins a character that arrives in two pieces', async () => {
    const bytes = Buffer.from('größer\n')
    expect(await all(piped(bytes.subarray(0, 3), bytes.subarray(3)))).toEqual(['größer'])
  })

  it('rejects input that is not UTF-8', async () => {
    await expect(all(piped(Buffer.from([0xff, 0x0a])))).rejects.toMatchObject({ code: 'usage' })
  })

  it('ends when it is closed, even while a message is pending', async () => {
    const input = createChatInput({ input: new PassThrough(), errors })
    const next = input.next()
    input.close()
    expect(await next).toBeUndefined()
  })
})
