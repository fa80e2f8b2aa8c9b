import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../shared/contract/limits.ts'
import { type SentEvent, sentEvents, wholeBody } from '../../../shared/wire/event-stream.ts'
import { answering } from '../../support/provider-streams.ts'

async function read(text: string | Buffer, pieceBytes?: number): Promise<SentEvent[][]> {
  const response = await answering(text, pieceBytes === undefined ? {} : { pieceBytes })('http://x')
  const batches: SentEvent[][] = []
  for await (const batch of sentEvents(response, () => {})) batches.push(batch)
  return batches
}

const events = async (text: string | Buffer, pieceBytes?: number) =>
  (await read(text, pieceBytes)).flat()

/** This between two others. */
const three = (data: string) => [
  { event: null, data: '1' },
  { event: null, data },
  { event: null, data: '2' },
]

describe('an event', () => {
  it.each([
    [
      'has a name and data, in whatever order',
      'data: 1\nevent: a\n\n',
      [{ event: 'a', data: '1' }],
    ],
    ['may have no name', 'data: 1\n\n', [{ event: null, data: '1' }]],
    ['is none without data', 'event: a\n\n', []],
    ['has all lines of its data', 'data: 1\ndata\ndata: 2\n\n', [{ event: null, data: '1\n\n2' }]],
    [
      'loses one blank after the colon, and no more',
      'data:  1 \ndata:2\n\n',
      [{ event: null, data: ' 1 \n2' }],
    ],
    [
      'has no comments and no unknown fields',
      ': hi\nid: 7\nretry: 1\ndatas: x\ndata: 1\n\n',
      [{ event: null, data: '1' }],
    ],
    ['is none where only comments came', ': keep-alive\n\n\n\n', []],
    ['may follow a mark of the byte order', '\ufeffdata: 1\n\n', [{ event: null, data: '1' }]],
    [
      'may be an error that came as a field of its own',
      'data: 1\n\nerror: {"code":500}\n\ndata: 2\n\n',
      [
        { event: null, data: '1' },
        { event: 'error', data: '{"code":500}' },
        { event: null, data: '2' },
      ],
    ],
    ['may be such an error without an end', 'error:{"code"', [{ event: 'error', data: '{"code"' }]],
    [
      'is no such error inside its data',
      'data: x error: 1\ndata: error: 2\nerrors: 3\n\n',
      [{ event: null, data: 'x error: 1\nerror: 2' }],
    ],
    [
      'may be an error on a line of its own',
      'data: 1\n\n{"error":{"code":500}}\n\ndata: 2\n\n',
      three('{"error":{"code":500}}'),
    ],
    [
      'may be one in a list',
      'data: 1\n\n[{"error":{"code":500}}]\ndata: 2\n\n',
      three('[{"error":{"code":500}}]'),
    ],
    [
      'may be one over several lines',
      'data: 1\n\n{\n  "error": {\n    "code": 500\n  }\n}\n\ndata: 2\n\n',
      three('{\n  "error": {\n    "code": 500\n  }\n}'),
    ],
    [
      'may be one with a line that begins with a letter',
      'data: 1\n\n[\ntrue\n]\n\ndata: 2\n\n',
      three('[\ntrue\n]'),
    ],
    ['may be one that is cut', 'data: 1\n\n{"error": {"co', three('{"error": {"co').slice(0, 2)],
    [
      'may have no blank line before the next',
      'data: 1\n\nevent: a\ndata: {"n":1}\nevent: b\ndata: {"n":2}\ndata: [DONE]\n',
      [
        { event: null, data: '1' },
        { event: null, data: '{"n":1}' },
        { event: null, data: '{"n":2}' },
        { event: 'b', data: '[DONE]' },
      ],
    ],
    [
      'has the lines of its data where they are one event',
      'data: {"n":\ndata: 1}\n\n',
      [{ event: null, data: '{"n":\n1}' }],
    ],
    [
      'has them where not each is an event',
      'data: {"n":1}\ndata: {"n"\n\n',
      [{ event: null, data: '{"n":1}\n{"n"' }],
    ],
    [
      'may have lost the blank line behind it',
      'data: 1\n\ndata: 2',
      [
        { event: null, data: '1' },
        { event: null, data: '2' },
      ],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await events(text)).toEqual(expected)
    for (const pieceBytes of [1, 2, 3]) expect(await events(text, pieceBytes)).toEqual(expected)
  })

  it.each(['\n', '\r\n', '\r'])(
    'ends alike with %j, however it is cut into pieces',
    async (end) => {
      const text = [
        'event: a',
        'data: grün',
        'data: 2',
        '',
        'error: it broke',
        '',
        'data: 😀',
        '',
        '',
      ].join(end)
      const expected = [
        { event: 'a', data: 'grün\n2' },
        { event: 'error', data: 'it broke' },
        { event: null, data: '😀' },
      ]
      for (let pieceBytes = 1; pieceBytes <= Buffer.byteLength(text); pieceBytes += 1)
        expect(await events(text, pieceBytes)).toEqual(expected)
    },
  )

  it('keeps characters that end lines elsewhere', async () => {
    expect(await events('data: a\u2028b\u0085c\u000bd\n\n')).toEqual([
      { event: null, data: 'a\u2028b\u0085c\u000bd' },
    ])
  })

  it('comes together with those that came with it', async () => {
    expect((await read('data: 1\n\ndata: 2\n\ndata: 3\n\n')).map((batch) => batch.length)).toEqual([
      3,
    ])
  })
})

describe('bytes that are no text', () => {
  const error = { event: 'error', data: expect.stringContaining('not UTF-8') }

  it.each([
    ['a character of another encoding', [0xf6]],
    ['half a character', [0xe2, 0x82]],
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
  ])('are an error after the text before them, for any network cut: %s', async (_name, bytes) => {
    const body = Buffer.concat([
      Buffer.from('data: ä\n\ndata: K'),
      Buffer.from(bytes),
      Buffer.from('ln\n\n'),
    ])
    for (let pieceBytes = 1; pieceBytes <= body.length; pieceBytes += 1)
      expect((await events(body, pieceBytes)).slice(0, 2)).toEqual([
        { event: null, data: 'ä' },
        error,
      ])
  })

  it('are none where the body was cut inside a character', async () => {
    const body = Buffer.from('data: 1\n\ndata: ä')
    expect(await events(body.subarray(0, -1))).not.toContainEqual(error)
  })

  it('are refused also in a body that is no stream', async () => {
    const response = new Response(Buffer.from([0x7b, 0xf6, 0x7d]))
    await expect(wholeBody(response, () => {})).rejects.toMatchObject({ code: 'provider.stream' })
  })
})

describe('a web page in the place of a stream', () => {
  const page = (body: string) =>
    new Response(body, { headers: { 'content-type': 'text/html; charset=utf-8' } })

  it('is reported as a web page', async () => {
    await expect(sentEvents(page('<html>Sign in</html>'), () => {}).next()).rejects.toThrow(
      /base URL/,
    )
  })

  it('is none where events come under that name', async () => {
    expect((await sentEvents(page('data: 1\n\n'), () => {}).next()).value).toEqual([
      { event: null, data: '1' },
    ])
  })
})

describe('a body without an end of an event', () => {
  const endless = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        pull: (controller) =>
          controller.enqueue(new Uint8Array(limits.streamEventBytesMax / 4).fill(97)),
      }),
    )

  it('is aborted at a bound', async () => {
    await expect(sentEvents(endless(), () => {}).next()).rejects.toMatchObject({
      code: 'provider.stream',
    })
    await expect(wholeBody(endless(), () => {})).rejects.toMatchObject({ code: 'provider.stream' })
  })
})
