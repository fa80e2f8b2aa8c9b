import { Readable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { readMessageText } from '../../../../apps/terminal/text/message-text.ts'
import { limits } from '../../../../shared/contract/limits.ts'

const piped = (...chunks: (string | Uint8Array)[]) =>
  Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
const nothing = piped()

describe('the text of a message', () => {
  it('is the unchanged argument', async () => {
    expect(await readMessageText('  list the files \n', nothing)).toBe('  list the files \n')
  })

  it('is standard input without its last line end, if there is no argument or a dash', async () => {
    expect(await readMessageText(undefined, piped('one\n', 'two\n'))).toBe('one\ntwo')
    expect(await readMessageText('-', piped('one\r\n\r\n'))).toBe('one\r\n')
  })

  it('keeps a character that arrives in two pieces', async () => {
    const bytes = Buffer.from('größer')
    expect(await readMessageText('-', piped(bytes.subarray(0, 3), bytes.subarray(3)))).toBe(
      'größer',
    )
  })

  it('has no byte order mark', async () => {
    expect(await readMessageText('-', piped('\ufeffhello'))).toBe('hello')
  })

  it('is required at a terminal', async () => {
    const terminal = Object.assign(piped('typed'), { isTTY: true })
    await expect(readMessageText(undefined, terminal)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('no message'),
    })
  })

  it.each([
    ['an empty argument', ''],
    ['a blank one', ' \n\t'],
  ])('cannot be %s', async (_, argument) => {
    await expect(readMessageText(argument, nothing)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('empty or blank'),
    })
  })

  it('cannot be empty on standard input', async () => {
    await expect(readMessageText(undefined, piped())).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('empty or blank'),
    })
  })

  it.each([
    ['a stray byte', Buffer.from([0x61, 0xff, 0x62]), 'byte 2 is 0xff'],
    ['an end in the middle of a character', Buffer.from([0x61, 0xc3]), 'byte 2 is 0xc3'],
    ['an encoded surrogate', Buffer.from([0xed, 0xa0, 0x80]), 'byte 1 is 0xed'],
  ])('cannot have %s', async (_, bytes, where) => {
    await expect(readMessageText('-', piped(bytes))).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(where),
    })
  })

  it('can have as many bytes as the limit, and not more', async () => {
    const most = 'x'.repeat(limits.userMessageBytesMax)
    expect(await readMessageText('-', piped(most, '\n'))).toBe(most)
    await expect(readMessageText('-', piped(most, 'x'))).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('1048577'),
    })
    await expect(readMessageText(`${most}x`, nothing)).rejects.toMatchObject({ code: 'usage' })
  })

  it('is read only up to its limit', async () => {
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(65_536, 'x'))
      },
    })
    await expect(readMessageText('-', endless)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('more than'),
    })
  })
})
