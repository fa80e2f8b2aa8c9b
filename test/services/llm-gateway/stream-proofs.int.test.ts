// Properties of every stream, with any bytes. Network boundaries change nothing. A stream that is
// cut off runs no call that the whole did not. A repeated part changes nothing. Noise runs nothing.
//
// The tests are bounded: of a stream with more than WEIR_STREAM_PLACES places, only that many are
// tried, chosen by a seed. A million tries all of them in a quarter of an hour. WEIR_FUZZ_RUNS sets
// the amount of noise, and WEIR_FUZZ_SEED its seed.

import { afterAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { judgedRound } from '../../../apps/transcripts/normalize/judged-round.ts'
import { connect } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { argumentText } from '../../../shared/contract/call/call.ts'
import type { RoundChecked } from '../../../shared/contract/messages.ts'
import {
  type Api,
  chunk,
  type StreamCase,
  sse,
  streamFixtures,
} from '../../support/provider-streams.ts'
import { proposedInParts } from '../accumulator/stream.ts'
import { agentOf, readToEnd } from './samples.ts'

const apis: Api[] = ['anthropic', 'openai-chat', 'openai-responses']
const seed = Number(process.env.WEIR_FUZZ_SEED ?? 20_261)
const numRuns = Number(process.env.WEIR_FUZZ_RUNS ?? 400)
const placesMax = Number(process.env.WEIR_STREAM_PLACES ?? 40)

const cases = apis.flatMap((api) => (streamFixtures(api) ?? []).map((stream) => ({ api, stream })))
const whereFixturesAre = cases.length === 0 ? describe.skip : describe

/** The number of rounds, for choosing the bounds. */
let rounds = 0
afterAll(() => {
  if (process.env.WEIR_STREAM_PLACES !== undefined) process.stdout.write(`${rounds} rounds\n`)
})

/** The provider's events for a body in these pieces. */
async function answerTo(api: Api, pieces: Uint8Array[]) {
  const body = ReadableStream.from(pieces)
  const fetch = () =>
    Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  rounds += 1
  return readToEnd(await connect(agentOf({}, { provider: api }), fetch))
}

async function roundOf(
  api: Api,
  pieces: Uint8Array[],
  tools?: StreamCase['tools'],
): Promise<RoundChecked> {
  return judgedRound({ ...(await answerTo(api, pieces)), tools })
}

/** The calls that would run, in order. */
function runnable({ response, denials }: RoundChecked): string[] {
  const refused = new Set(denials.map(({ ordinal }) => ordinal))
  return response.calls
    .filter(({ ordinal }) => !refused.has(ordinal))
    .map((call) => JSON.stringify([call.name, JSON.parse(argumentText(call))]))
}

/**
 * All places of short bytes. Of longer ones the first, the last, and some in between by the seed.
 */
function placesIn(bytes: Buffer): number[] {
  const all = Array.from({ length: bytes.length + 1 }, (_, at) => at)
  if (all.length <= placesMax) return all
  const some = fc.sample(fc.integer({ min: 1, max: bytes.length - 1 }), {
    seed,
    numRuns: placesMax - 20,
  })
  return [...new Set([...all.slice(0, 10), ...some, ...all.slice(-10)])]
}

whereFixturesAre('a recorded stream', () => {
  const each = cases.map(({ api, stream }) => [api, stream.name, stream] as const)

  it.each(each)(
    'gives the same round for any network boundaries: %s %s',
    async (api, _name, { bytes, tools }) => {
      const whole = await roundOf(api, [bytes], tools)
      for (const at of placesIn(bytes))
        expect([
          at,
          await roundOf(api, [bytes.subarray(0, at), bytes.subarray(at)], tools),
        ]).toEqual([at, whole])
      for (const size of [1, 2, 3, 5, 7, 64, 1000]) {
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
          bytes.subarray(n * size, (n + 1) * size),
        )
        expect(await roundOf(api, pieces, tools)).toEqual(whole)
      }
    },
  )

  it.each(each)(
    'runs no call that the whole does not when it is cut off anywhere: %s %s',
    async (api, _name, { bytes, tools }) => {
      const whole = runnable(await roundOf(api, [bytes], tools))
      for (const at of placesIn(bytes)) {
        const cut = runnable(await roundOf(api, [bytes.subarray(0, at)], tools))
        expect([at, cut]).toEqual([
          at,
          whole.filter((call) => cut.includes(call)).slice(0, cut.length),
        ])
      }
    },
  )

  it.each(each)(
    'gives the same response if every part of it comes twice: %s %s',
    async (api, _name, { bytes }) => {
      const { events } = await answerTo(api, [bytes])
      const parts = events.map((event) => [event])
      expect(proposedInParts(parts, { twice: true })).toEqual(
        proposedInParts(parts, { twice: false }),
      )
      expect(proposedInParts([events], { twice: true })).toEqual(
        proposedInParts(parts, { twice: false }),
      )
    },
  )
})

describe('noise', () => {
  /** Texts that never become arguments: no bracket ever closes. */
  const scrap = fc.oneof(
    fc.constantFrom(
      '',
      '{',
      '{"a":',
      '"a":1',
      '"x',
      '[',
      '1',
      'null',
      'true',
      '"',
      "{'a':1",
      '```json\n{',
      '\\',
      '{"a":"\ud83d',
      '\u0000',
    ),
    fc.string({ maxLength: 6 }).map((text) => text.replaceAll('}', '')),
  )
  const word = fc.oneof(
    scrap,
    fc.constantFrom(null, 0, 1, -1, 2 ** 40, true, 'read', 'c1', 'c2', 'f1'),
    fc.constant([]),
  )
  const optional = (fields: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(fields, { requiredKeys: [] })

  const anthropicBlock = optional({
    type: fc.constantFrom('tool_use', 'text', 'thinking', 'server_tool_use'),
    id: word,
    name: word,
    input: word,
  })
  const anthropicDelta = optional({
    type: fc.constantFrom('input_json_delta', 'text_delta', 'thinking_delta', 'signature_delta'),
    partial_json: scrap,
    text: word,
    thinking: word,
    signature: word,
    stop_reason: fc.constantFrom('tool_use', 'end_turn', 'max_tokens', null),
  })
  const anthropicEvent = optional({
    type: fc.constantFrom(
      ...[
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
        'ping',
      ],
    ),
    index: word,
    content_block: anthropicBlock,
    delta: anthropicDelta,
    usage: word,
    message: optional({
      id: word,
      content: fc.array(anthropicBlock, { maxLength: 2 }),
      stop_reason: word,
    }),
  })

  const entry = optional({
    index: word,
    id: word,
    type: word,
    function: fc.oneof(word, optional({ name: word, arguments: word })),
  })
  const chatDelta = optional({
    content: word,
    reasoning: word,
    tool_calls: fc.array(entry, { maxLength: 3 }),
    function_call: entry,
  })
  const finish = fc.constantFrom(null, 'tool_calls', 'stop', 'length', 'x')
  const chatChunk = optional({
    id: word,
    choices: fc.array(optional({ index: word, delta: chatDelta, finish_reason: finish }), {
      maxLength: 2,
    }),
  })

  const item = optional({
    type: fc.constantFrom('function_call', 'custom_tool_call', 'message', 'reasoning', 'mcp_call'),
    id: word,
    call_id: word,
    name: word,
    arguments: word,
    input: word,
    status: word,
    content: word,
  })
  const responsesEvent = optional({
    type: fc.constantFrom(
      ...[
        'response.created',
        'response.output_item.added',
        'response.output_item.done',
        'response.function_call_arguments.delta',
      ],
      ...[
        'response.function_call_arguments.done',
        'response.output_text.delta',
        'response.output_text.done',
        'response.refusal.delta',
      ],
      ...[
        'response.completed',
        'response.incomplete',
        'response.custom_tool_call_input.delta',
        'response.reasoning_summary_text.delta',
      ],
    ),
    item,
    item_id: word,
    output_index: word,
    delta: word,
    arguments: word,
    text: word,
    name: word,
    response: optional({
      id: word,
      output: fc.array(item, { maxLength: 3 }),
      usage: word,
      incomplete_details: word,
      status: word,
    }),
  })
  const payloads: Record<Api, fc.Arbitrary<unknown>> = {
    anthropic: anthropicEvent,
    'openai-chat': chatChunk,
    'openai-responses': responsesEvent,
  }

  const tools = ['read', 'c1', '1'].map((name) => ({
    name,
    schema: { type: 'object', required: ['a'] },
  }))

  it.each(apis)('of the right shape runs nothing, and throws nothing: %s', async (api) => {
    const framed = payloads[api].map((payload) => {
      const type = (payload as { type?: string }).type
      return api === 'openai-chat' || type === undefined
        ? chunk(JSON.stringify(payload))
        : sse(type, JSON.stringify(payload))
    })
    const other = fc.constantFrom(
      'data: [DONE]\n\n',
      ': hi\n\n',
      'event: error\n',
      'data: x\n\n',
      '\n\n',
      'data: {"type"\n\n',
    )
    const body = fc.array(fc.oneof({ arbitrary: framed, weight: 9 }, other), { maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(body, async (events) => {
        const { events: parts, ending } = await answerTo(api, [Buffer.from(events.join(''))])
        expect(ending?.kind).toEqual(expect.any(String))
        expect(runnable(judgedRound({ events: parts, ending, tools }))).toEqual([])
      }),
      { seed, numRuns },
    )
  })

  it.each(apis)('of no shape runs nothing, and throws nothing: %s', async (api) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        expect(runnable(await roundOf(api, [bytes], tools))).toEqual([])
      }),
      { seed, numRuns: numRuns / 4 },
    )
  })

  const damaged = cases.filter(({ stream }) => stream.bytes.length < 8_000)
  const whereTheyAre = damaged.length === 0 ? it.skip : it
  whereTheyAre(
    'in a recorded stream throws nothing, and each running call has a tool name and an object of arguments',
    async () => {
      const damage = fc.record({
        which: fc.nat(),
        at: fc.array(
          fc.record({
            place: fc.nat(),
            kind: fc.constantFrom('flip', 'drop', 'repeat', 'swap'),
            size: fc.integer({ min: 1, max: 400 }),
          }),
          {
            minLength: 1,
            maxLength: 3,
          },
        ),
      })
      await fc.assert(
        fc.asyncProperty(damage, async ({ which, at }) => {
          const { api, stream } = damaged[
            which % Math.max(damaged.length, 1)
          ] as (typeof damaged)[number]
          const round = await roundOf(api, [
            at.reduce(
              (bytes, { place, kind, size }) => broken(bytes, place, kind, size),
              stream.bytes,
            ),
          ])
          for (const call of runnable(round))
            expect(JSON.parse(call)).toEqual([expect.stringMatching(/\S/), expect.any(Object)])
        }),
        { seed, numRuns },
      )
    },
  )
})

function broken(bytes: Buffer, place: number, kind: string, size: number): Buffer {
  const at = place % Math.max(bytes.length, 1)
  const [before, piece, after] = [
    bytes.subarray(0, at),
    bytes.subarray(at, at + size),
    bytes.subarray(at + size),
  ]
  if (kind === 'flip')
    return Buffer.concat([
      before,
      Buffer.from(piece.map((byte, n) => (n === 0 ? byte ^ 0x11 : byte))),
      after,
    ])
  if (kind === 'drop') return Buffer.concat([before, after])
  return kind === 'repeat'
    ? Buffer.concat([before, piece, piece, after])
    : Buffer.concat([piece, before, after])
}
