// The arguments of a host's call as text, over a pipe and in a body.

import { describe, expect, it } from '@jest/globals'
import {
  argumentsIn,
  linesWithTexts,
  messagesWithTexts,
} from '../../../../../apps/http/fronts/mcp/host-message.ts'
import { limits } from '../../../../../shared/contract/limits.ts'

type Message = { params: { _meta?: Record<string, unknown> } }

const odd = '{ "account":9007199254740993, "limit":1e999,"__proto__":{},"a":1,"a":2}'
const callWith = (rest: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"${rest}}}`
const textIn = (message: unknown) => argumentsIn((message as Message).params._meta)

describe('the message of a host', () => {
  it('has the arguments of a call as they were sent', () => {
    expect(textIn(messagesWithTexts(callWith(`,"arguments":${odd}`)))).toBe(odd)
    expect(textIn(messagesWithTexts(callWith('')))).toBe('{}')
  })

  it('has the arguments that JSON.parse keeps, if it has two', () => {
    const twice = callWith(`,"arguments":{"a":1},"arguments":${odd}`)
    expect(textIn(messagesWithTexts(twice))).toBe(odd)
  })

  it('cannot name another text', () => {
    const forged = ',"_meta":{"weir\\/arguments":"{\\"forged\\":1}","own":2},"arguments":{"a":1}'
    const message = messagesWithTexts(callWith(forged))
    expect(textIn(message)).toBe('{"a":1}')
    expect((message as Message).params._meta).toMatchObject({ own: 2 })
  })

  it('has a text for each call of a batch', () => {
    const batch = `[${callWith(',"arguments":{"n":1.0}')},${callWith(`,"arguments":${odd}`)}]`
    expect((messagesWithTexts(batch) as unknown[]).map(textIn)).toEqual(['{"n":1.0}', odd])
  })

  it.each([
    ['no JSON', '{"method":"tools/call"'],
    ['too deep', callWith(`,"arguments":${'{"a":'.repeat(600)}1${'}'.repeat(600)}`)],
  ])('is none if it is %s', (_, text) => {
    expect(messagesWithTexts(text)).toBeUndefined()
  })

  it('leaves parameters to the SDK that are none', () => {
    for (const params of ['null', '[]', '"text"', '{"_meta":7}']) {
      const text = `{"method":"tools/call","params":${params}}`
      expect(messagesWithTexts(text)).toEqual(JSON.parse(text))
    }
    expect(() => argumentsIn(undefined)).toThrow()
  })
})

describe('the lines of a host', () => {
  it('pass in any pieces, with the texts of their calls', async () => {
    const sent = Buffer.from(`${callWith(',"arguments":{"city":"Köln"}')}\nno JSON\n{"id":3}\n`)
    for (const size of [1, 7, sent.length]) {
      const lines = linesWithTexts()
      for (let at = 0; at < sent.length; at += size) lines.write(sent.subarray(at, at + size))
      lines.end()
      const received = String(Buffer.concat(await lines.toArray())).split('\n')
      expect(textIn(JSON.parse(received[0] ?? ''))).toBe('{"city":"Köln"}')
      expect(received.slice(1)).toEqual(['no JSON', '{"id":3}', ''])
    }
  })

  it('end with an error if one has no end', async () => {
    const lines = linesWithTexts()
    lines.write(Buffer.alloc(limits.mcpMessageBytesMax))
    lines.end('more')
    await expect(lines.toArray()).rejects.toThrow('a message has more than')
  })
})
