// Failures of a provider, end to end. The user gets an answer or the fallback with a reason, only
// whole calls run, and the conversation goes on. `retry-after-ms` keeps the tests short; without it
// the gateway waits a second before the second attempt.

import { describe, expect, it } from '@jest/globals'
import type { Reply } from '../../apps/demo/anthropic-server.ts'
import type { Block, ModelCall } from '../../client/testing/anthropic-stream.ts'
import { limits } from '../../shared/contract/limits.ts'
import { until } from '../support/inbox.ts'
import { expectInvariants } from '../support/invariants.ts'
import { type Pipeline, patient, type Turn, withPipeline } from '../support/pipeline.ts'
import {
  call,
  longText,
  says,
  script,
  stream,
  systemOf,
  text,
  textsOf,
  thinking,
} from '../support/script.ts'

const soon = { 'retry-after-ms': '20' }
const error = (
  status: number,
  message = 'nothing to see here',
  headers: Record<string, string> = soon,
): Reply => ({
  kind: 'error',
  status,
  message,
  headers,
})

/**
 * The conversation goes on with a normal turn, with enough time for a slow machine, and all
 * invariants hold.
 */
async function expectGoesOn(pipeline: Pipeline): Promise<Turn> {
  const turn = await pipeline.ask('and now?', { agent: patient(pipeline.agent) })
  expect(turn.finished).toMatchObject({ outcome: 'answered', reply: 'The script is over.' })
  await expectInvariants(pipeline)
  return turn
}

describe('a provider that refuses', () => {
  it.each([400, 401, 403, 404, 422])(
    'with %d gets one request, and the turn ends with its message',
    async (status) => {
      await withPipeline(
        { model: script(error(status, 'max_tokens: too many')) },
        async (pipeline) => {
          const { finished } = await pipeline.ask('hello')
          expect(finished).toMatchObject({
            outcome: 'failed',
            class: 'refused',
            reply: 'This is the fallback.',
            reason: `the provider answered ${status}: max_tokens: too many`,
          })
          expect(pipeline.server.requests).toHaveLength(1)
          await expectGoesOn(pipeline)
        },
      )
    },
  )

  it('because its context is full gets one request, and the turn ends with its own class and the remedy', async () => {
    await withPipeline(
      { model: script(error(400, 'prompt is too long: 213462 tokens > 200000 maximum')) },
      async (pipeline) => {
        const { finished } = await pipeline.ask('hello')
        expect(finished).toMatchObject({
          outcome: 'failed',
          class: 'context_full',
          reply: 'This is the fallback.',
          reason: expect.stringMatching(
            /^the model's context is full; begin a new conversation.*213462 tokens > 200000 maximum\)$/,
          ),
        })
        expect(pipeline.server.requests).toHaveLength(1)
        await expectGoesOn(pipeline)
      },
    )
  })

  const unpaired =
    'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_9.'

  it('because calls and results do not match gets the history again with ids of ours, and the turn goes on (I5.4)', async () => {
    const model = script(
      says(call('exec', { command: 'ls' })),
      error(400, unpaired),
      says(text('Done.')),
    )
    await withPipeline({ model, settings: { attempts: 1 } }, async (pipeline) => {
      const { finished } = await pipeline.ask('hello')
      expect(finished).toMatchObject({ outcome: 'answered', reply: 'Done.' })
      const [, refused, rebuilt] = pipeline.server.requests.map(({ messages }) =>
        JSON.stringify(messages),
      )
      expect(refused).toContain('"id":"toolu_')
      expect(rebuilt).not.toContain('toolu_')
      expect(rebuilt).toContain('"id":"call_')
      expect(pipeline.server.requests).toHaveLength(3)
      await expectGoesOn(pipeline)
    })
  })

  it('for that reason a second time ends the turn with a reason', async () => {
    await withPipeline(
      { model: script(error(400, unpaired), error(400, unpaired)) },
      async (pipeline) => {
        const { finished } = await pipeline.ask('hello')
        expect(finished).toMatchObject({
          outcome: 'failed',
          class: 'refused',
          reason: expect.stringMatching(
            /^the history of this conversation is refused, also rebuilt; begin a new conversation: /,
          ),
        })
        expect(pipeline.server.requests).toHaveLength(2)
        await expectGoesOn(pipeline)
      },
    )
  })

  it.each([408, 409, 429, 500, 502, 503, 529])(
    'with %d gets three requests, and the turn ends as transient',
    async (status) => {
      await withPipeline(
        { model: script(error(status), error(status), error(status)) },
        async (pipeline) => {
          const { finished } = await pipeline.ask('hello')
          expect(finished).toMatchObject({
            outcome: 'failed',
            class: 'transient',
            reply: 'This is the fallback.',
            reason: `the provider answered ${status}: nothing to see here`,
          })
          expect(pipeline.server.requests).toHaveLength(3)
          await expectGoesOn(pipeline)
        },
      )
    },
  )

  it('twice and then answers gets the same request each time, and the answer counts', async () => {
    await withPipeline(
      { model: script(error(529), error(429), says(text('Here I am.'))) },
      async (pipeline) => {
        const { finished } = await pipeline.ask('hello')
        expect(finished).toMatchObject({
          outcome: 'answered',
          reply: 'Here I am.',
          totals: { rounds: 1 },
        })
        const [first, second, third] = pipeline.server.requests
        expect([second, third]).toEqual([first, first])
        await expectGoesOn(pipeline)
      },
    )
  })

  it('gets no request before the time that it named', async () => {
    await withPipeline(
      { model: script(error(429, 'slow down', { 'retry-after': '1' })) },
      async (pipeline) => {
        const { finished } = await pipeline.ask('hello')
        expect(finished).toMatchObject({ outcome: 'answered', reply: 'The script is over.' })
        expect(finished.totals.wallMs).toBeGreaterThanOrEqual(1_000)
        await expectGoesOn(pipeline)
      },
    )
  })

  it.each(['3600', '86400', '999999999'])(
    'until after the end of the turn (%s s) ends the turn without a wait',
    async (seconds) => {
      const settings = {
        policy: { caps: { rounds: 25, calls: 100, wallMs: 60_000, tokens: null } },
      }
      await withPipeline(
        { settings, model: script(error(429, 'tomorrow', { 'retry-after': seconds })) },
        async (pipeline) => {
          const { finished } = await pipeline.ask('hello')
          expect(finished).toMatchObject({
            outcome: 'failed',
            class: 'transient',
            reason: 'the provider answered 429: tomorrow',
          })
          // The next request to this account would wait for the provider, for two minutes at most.
          await expectInvariants(pipeline)
        },
      )
    },
  )

  it('in the middle of a turn ends it, and its finished calls are in the history of the next one', async () => {
    await withPipeline(
      { model: script(says(call('exec', { command: 'ls' })), error(400, 'no more')) },
      async (pipeline) => {
        const { finished } = await pipeline.ask('list my files')
        expect(finished).toMatchObject({
          outcome: 'failed',
          class: 'refused',
          reason: 'the provider answered 400: no more',
        })
        await expectGoesOn(pipeline)
        expect(await pipeline.starts()).toHaveLength(1)
        expect(JSON.stringify(pipeline.server.requests[2]?.messages)).toContain('ran: ls')
      },
    )
  })

  it('and quotes the key gives a reason without it', async () => {
    const message = 'invalid x-api-key: key-that-must-not-show'
    await withPipeline({ model: script(error(401, message)) }, async (pipeline) => {
      const { finished } = await pipeline.ask('hello')
      expect(finished.reason).toBe('the provider answered 401: invalid x-api-key: [key]')
      await expectGoesOn(pipeline)
    })
  })

  it('with a page of HTML, with terminal codes, or with megabytes gives a short reason in one line', async () => {
    const page =
      '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\u001b[31mred\u001b[0m\u0000</body>\n</html>'
    const replies: Reply[] = [
      { kind: 'bytes', status: 400, bytes: page, contentType: 'text/html' },
      {
        kind: 'bytes',
        status: 400,
        bytes: `${page}${'x'.repeat(5 * 1024 * 1024)}`,
        contentType: 'text/html',
      },
      { kind: 'bytes', status: 400, bytes: '' },
      { kind: 'bytes', status: 400, bytes: '{"error": null}', contentType: 'application/json' },
      {
        kind: 'bytes',
        status: 400,
        bytes: '{"error": {"message": ["a", {"b": 1}]}}',
        contentType: 'application/json',
      },
    ]
    await withPipeline({ model: script(...replies) }, async (pipeline) => {
      for (const [i] of replies.entries()) {
        const { finished } = await pipeline.ask(`hello ${i}`)
        expect(finished).toMatchObject({ outcome: 'failed', class: 'refused' })
        expect(finished.reason).toMatch(/^the provider answered 400/)
      }
      await expectGoesOn(pipeline)
    })
  })
})

describe('a provider that cannot be reached', () => {
  it('gets retries, and the turn ends with the fallback; its address is not in the reason', async () => {
    await withPipeline({ model: script(), settings: { attempts: 2 } }, async (pipeline) => {
      await pipeline.server.close()
      const { finished } = await pipeline.ask('hello')
      expect(finished).toMatchObject({
        outcome: 'failed',
        class: 'transient',
        reply: 'This is the fallback.',
        reason: 'no connection to the provider (ECONNREFUSED)',
      })
      await expectInvariants(pipeline)
    })
  })

  it('because it hangs up without an answer gets a retry', async () => {
    await withPipeline(
      { model: script({ kind: 'hangup' }), settings: { attempts: 2 } },
      async (pipeline) => {
        const { finished } = await pipeline.ask('hello')
        expect(finished).toMatchObject({ outcome: 'answered' })
        expect(pipeline.server.requests).toHaveLength(2)
        await expectGoesOn(pipeline)
      },
    )
  })
})

describe('an incomplete or broken stream', () => {
  const start = {
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', content: [], usage: {} },
  }
  const end = [
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ]
  const broken: [string, Reply][] = [
    [
      'cut in the middle of a text',
      { kind: 'cut', blocks: [text('I was just about to say that')] },
    ],
    [
      'cut in the middle of the arguments',
      { kind: 'cut', blocks: [call('exec', { command: 'ls' })] },
    ],
    [
      'cut after a whole call',
      { kind: 'cut', blocks: [call('exec', { command: 'ls' }), text('and')] },
    ],
    [
      'that ends after a whole call without a reason',
      stream(start, ...toolBlock(0, '{"command":"ls"}')),
    ],
    ['of garbage', { kind: 'garbage' }],
    [
      'that is a page of HTML',
      {
        kind: 'bytes',
        bytes: '<html>\n<body>Welcome to the hotel</body>\n</html>',
        contentType: 'text/html',
      },
    ],
    [
      'that is one JSON object',
      { kind: 'bytes', bytes: '{"type":"message","content":[]}', contentType: 'application/json' },
    ],
    ['without a byte', { kind: 'bytes', bytes: '' }],
    [
      'with an error in it',
      stream(start, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ],
    [
      'with two answers in it',
      stream(
        start,
        ...toolBlock(0, '{"command":"ls"}'),
        { ...start, message: { id: 'n' } },
        ...end,
      ),
    ],
    [
      'with a line without an end',
      { kind: 'bytes', bytes: `data: ${'x'.repeat(limits.streamEventBytesMax + 1)}` },
    ],
  ]

  it('is dropped for any fault, none of it runs, and the next attempt is the answer', async () => {
    const seen = new Map<string, number>()
    const model = (request: ModelCall): Reply => {
      const name = textsOf(request)[0] ?? ''
      seen.set(name, (seen.get(name) ?? 0) + 1)
      if (seen.get(name) === 1) return broken.find(([broke]) => broke === name)?.[1] as Reply
      return seen.get(name) === 2
        ? says(call('exec', { command: name }))
        : says(text(`Done with ${name}.`))
    }
    await withPipeline({ model, settings: { attempts: 2 } }, async (pipeline) => {
      const turns = await Promise.all(
        broken.map(([name]) => pipeline.ask(name, { conversation: name })),
      )
      expect(turns.map(({ finished }) => finished.reply)).toEqual(
        broken.map(([name]) => `Done with ${name}.`),
      )
      for (const { finished } of turns)
        expect(finished).toMatchObject({ outcome: 'answered', totals: { rounds: 2, calls: 1 } })
      expect([...seen.values()]).toEqual(broken.map(() => 3))
      const commands = (await pipeline.starts()).map(
        (line) => JSON.parse(JSON.parse(line).arguments).command,
      )
      expect(commands.sort()).toEqual(broken.map(([name]) => name).sort())
      await expectInvariants(pipeline)
    })
  })

  it.each(broken)(
    '%s at the last attempt ends the turn with the fallback and a reason',
    async (_, reply) => {
      await withPipeline({ model: script(reply), settings: { attempts: 1 } }, async (pipeline) => {
        const { finished } = await pipeline.ask('list my files')
        expect(finished).toMatchObject({ outcome: 'failed', reply: 'This is the fallback.' })
        expect(['transient', 'provider']).toContain(finished.class)
        expect(finished.reason).toMatch(/stream|connection|provider|response/)
        await expectGoesOn(pipeline)
        expect(await pipeline.starts()).toEqual([])
      })
    },
  )

  it('that is too long for a round gets no retry, which would be as long', async () => {
    const piece = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: longText(1024 * 1024) },
    }
    const reply = stream(start, ...new Array(7).fill(piece), ...end)
    await withPipeline({ model: script(reply) }, async (pipeline) => {
      const { finished } = await pipeline.ask('tell me everything')
      expect(finished).toMatchObject({
        outcome: 'failed',
        class: 'deterministic',
        reply: 'This is the fallback.',
      })
      expect(finished.reason).toMatch(/bytes and is not over; at most/)
      expect(pipeline.server.requests).toHaveLength(1)
      await expectGoesOn(pipeline)
    })
  })

  const stuck = (block: Block): Reply => says({ ...block, pieceChars: 40 } as Block)
  const actually = 'actually '.repeat(14_645)

  it.each([
    ['text', text(actually)],
    ['thinking', thinking(actually)],
  ])(
    'that repeats one word without end is stopped early, and the model answers after a reminder (%s)',
    async (_, block) => {
      await withPipeline({ model: script(stuck(block), says(text('Done.'))) }, async (pipeline) => {
        const { finished } = await pipeline.ask('hello')
        expect(finished).toMatchObject({
          outcome: 'answered',
          reply: 'Done.',
          totals: { rounds: 1 },
        })
        const [first, second] = pipeline.server.requests
        expect(systemOf(first)).not.toContain('repeat yourself')
        expect(systemOf(second)).toContain('Do not repeat yourself')
        const written = await pipeline.records('model-deltas')
        const shown = written.flatMap((record) => (record.type === 'part' ? record.events : []))
        const chars = shown.reduce((sum, event) => sum + event.text.length, 0)
        expect(chars).toBeLessThan(actually.length * 0.05)
        await expectGoesOn(pipeline)
      })
    },
  )

  it('that repeats one word after the reminder, too, ends the turn with its own class', async () => {
    const model = script(stuck(text(actually)), stuck(text(actually)))
    await withPipeline({ model }, async (pipeline) => {
      const { finished } = await pipeline.ask('hello')
      expect(finished).toMatchObject({
        outcome: 'failed',
        class: 'degenerate',
        reply: 'This is the fallback.',
        reason: expect.stringMatching(
          /^the response was stopped: it repeated the same text 4\d\d times/,
        ),
      })
      expect(pipeline.server.requests).toHaveLength(2)
      await expectGoesOn(pipeline)
    })
  })

  it('with an error that quotes the key gives a reason without it', async () => {
    const reply = stream(start, {
      type: 'error',
      error: { type: 'authentication_error', message: 'bad key-that-must-not-show' },
    })
    await withPipeline({ model: script(reply) }, async (pipeline) => {
      const { finished } = await pipeline.ask('hello')
      expect(finished).toMatchObject({ outcome: 'failed', class: 'refused' })
      expect(finished.reason).toContain('bad [key]')
      await expectGoesOn(pipeline)
    })
  })

  it('that falls silent in the middle is dropped, none of it runs, and its connection is closed', async () => {
    const stall: Reply = {
      kind: 'stall',
      blocks: [call('exec', { command: 'ls' }), text('Let me')],
    }
    await withPipeline(
      { model: script(stall), settings: { stallMs: 2_500, attempts: 1 } },
      async (pipeline) => {
        const { finished } = await pipeline.ask('list my files')
        expect(finished).toMatchObject({
          outcome: 'failed',
          class: 'transient',
          reply: 'This is the fallback.',
        })
        expect(finished.reason).toMatch(/no byte from the provider for 2500 ms/)
        await expectGoesOn(pipeline)
        await until(async () => pipeline.server.open() === 0)
        expect(await pipeline.starts()).toEqual([])
      },
    )
  })

  it('is closed as soon as its turn is cancelled, or its time is over', async () => {
    const caps = { rounds: 25, calls: 100, wallMs: 3_000, tokens: null }
    for (const settings of [{}, { policy: { caps } }])
      await withPipeline(
        { model: script({ kind: 'stall', blocks: [text('Let me')] }), settings },
        async (pipeline) => {
          const turn = pipeline.ask('hello')
          if (!('policy' in settings)) {
            await until(async () => pipeline.server.open() === 1)
            await pipeline.edge.cancel({ conversation: 'c', messageId: 'hello' })
          }
          const { finished } = await turn
          const over = {
            outcome: 'capped',
            cap: 'wall',
            class: 'budget',
            reply: 'This is the fallback.',
          }
          expect(finished).toMatchObject(
            'policy' in settings ? over : { outcome: 'cancelled', class: 'cancelled' },
          )
          await until(async () => pipeline.server.open() === 0)
          await expectGoesOn(pipeline)
        },
      )
  })

  function toolBlock(index: number, partial_json: string) {
    return [
      {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: 'toolu_hand', name: 'exec', input: {} },
      },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } },
      { type: 'content_block_stop', index },
    ]
  }
})

describe('a provider that stops for a special reason', () => {
  it.each(['end_turn', 'max_tokens', 'stop_sequence', 'refusal', 'pause_turn', 'banana'])(
    '(%s) has answered if it wrote a text',
    async (stopReason) => {
      await withPipeline(
        { model: script({ kind: 'message', blocks: [text('So far.')], stopReason }) },
        async (pipeline) => {
          const { finished } = await pipeline.ask('hello')
          expect(finished).toMatchObject({ outcome: 'answered', reply: 'So far.' })
          await expectGoesOn(pipeline)
        },
      )
    },
  )

  it.each(['end_turn', 'max_tokens', 'refusal', 'banana'])(
    '(%s) and never writes a text ends the turn in a bounded number of rounds',
    async (stopReason) => {
      let silent = true
      const model = (): Reply =>
        silent ? { kind: 'message', blocks: [], stopReason } : says(text('The script is over.'))
      await withPipeline({ model }, async (pipeline) => {
        const { finished } = await pipeline.ask('hello')
        expect(finished).toMatchObject({ outcome: 'failed', reply: 'This is the fallback.' })
        expect(pipeline.server.requests.length).toBeLessThanOrEqual(12)
        silent = false
        await expectGoesOn(pipeline)
      })
    },
  )
})

describe('a provider that cannot count', () => {
  const most = Number.MAX_SAFE_INTEGER
  it.each([
    ['less than nothing', { input_tokens: -5, output_tokens: -1 }],
    ['more than any number', { input_tokens: 1e300, output_tokens: Number.MAX_VALUE }],
    [
      'the largest whole number',
      { input_tokens: most, output_tokens: most, cache_read_input_tokens: most },
    ],
    ['halves', { input_tokens: 1.5, output_tokens: 0.5 }],
    ['words', { input_tokens: 'many', output_tokens: null, cache_read_input_tokens: {} }],
  ])('and reports %s tokens has answered all the same', async (_, usage) => {
    const reply = stream(
      {
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', content: [], usage },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'So far.' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    )
    await withPipeline({ model: script(reply) }, async (pipeline) => {
      expect((await pipeline.ask('hello')).finished).toMatchObject({
        outcome: 'answered',
        reply: 'So far.',
      })
      await expectGoesOn(pipeline)
    })
  })
})

describe('a provider that refuses requests without tools', () => {
  const settings = { policy: { caps: { rounds: 1, calls: 10, wallMs: 60_000, tokens: null } } }
  const refusing = (model: ModelCall): Reply =>
    model.tool_choice?.type === 'none'
      ? error(400, "tool_choice: Input should be 'auto', 'any' or 'tool'")
      : says(model.tools === undefined ? text('I saw it.') : call('exec', { command: 'look' }))

  it('gets the calls in plain text, and the turn ends with its text; the next turn is a normal one', async () => {
    await withPipeline({ model: refusing, settings }, async (pipeline) => {
      for (const [n, requests] of [3, 5].entries()) {
        const { finished } = await pipeline.ask(`look around ${n}`)
        expect(finished).toMatchObject({ outcome: 'answered', cap: 'rounds', reply: 'I saw it.' })
        expect(pipeline.server.requests).toHaveLength(requests)
        const last = pipeline.server.requests.at(-1)
        expect([last?.tools, last?.tool_choice]).toEqual([undefined, undefined])
        expect(JSON.stringify(last?.messages)).not.toMatch(/tool_use|tool_result/)
        expect(textsOf(last).join('\n')).toContain('ran: look')
      }
      expect(await pipeline.starts()).toHaveLength(2)
      await expectInvariants(pipeline)
    })
  })
})

describe('a provider that calls tools in spite of a request without tools', () => {
  const looks = (n: number): Block => call('exec', { command: `look ${n}` })
  const settings = { policy: { caps: { rounds: 1, calls: 10, wallMs: 60_000, tokens: null } } }

  it('and without a text never runs the call, and the user gets the fallback', async () => {
    await withPipeline(
      { model: script(says(looks(1)), says(looks(2))), settings },
      async (pipeline) => {
        const { finished } = await pipeline.ask('look around')
        expect(finished).toMatchObject({
          outcome: 'capped',
          cap: 'rounds',
          class: 'budget',
          reply: 'This is the fallback.',
        })
        expect(pipeline.server.requests[1]?.tool_choice?.type).toBe('none')
        expect(await pipeline.starts()).toHaveLength(1)
        await expectGoesOn(pipeline)
        expect(pipeline.server.requests[2]?.tool_choice).toBeUndefined()
      },
    )
  })

  it('next to a text never runs the call, and the text is the reply', async () => {
    await withPipeline(
      { model: script(says(looks(1)), says(text('I saw it.'), looks(2))), settings },
      async (pipeline) => {
        const { finished } = await pipeline.ask('look around')
        expect(finished).toMatchObject({ outcome: 'answered', cap: 'rounds', reply: 'I saw it.' })
        expect(await pipeline.starts()).toHaveLength(1)
        await expectGoesOn(pipeline)
      },
    )
  })
})
