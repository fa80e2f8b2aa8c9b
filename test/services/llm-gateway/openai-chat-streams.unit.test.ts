// Recorded Chat Completions streams and those broken by hand, through the adapter with the real SDK, the accumulator and the validator, cut into
// pieces of several sizes.

import { describe, expect, it } from '@jest/globals'
import { openaiChat } from '../../../services/llm-gateway/openai-chat.ts'
import { argumentText } from '../../../shared/call.ts'
import type { Call, Declaration } from '../../../shared/messages.ts'
import type { ExpectedCall, StreamCase } from '../../support/provider-streams.ts'
import { answering, streamFixtures } from '../../support/provider-streams.ts'
import { proposedFor } from '../accumulator/stream.ts'
import { checked, tool } from '../validator/round.ts'
import { agentOf, readToEnd } from './samples.ts'

const fixtures = streamFixtures('openai-chat')
const whereFixturesAre = fixtures === undefined ? describe.skip : describe
const cases: StreamCase[] = fixtures ?? [{ name: 'no fixtures here', bytes: Buffer.alloc(0), calls: [] }]

whereFixturesAre.each([
  ['whole', undefined],
  ['in pieces of 7 bytes', 7],
  ['byte by byte', 1],
] as const)('Chat Completions streams, %s', (_, pieceBytes) => {
  it.each(cases.map((stream) => [stream.name, stream] as const))('%s', async (_name, stream) => {
    const { round, events, finish } = await answerTo(stream, pieceBytes)
    const { response, rejections } = round
    if (stream.finish !== undefined) expect(finish).toBe(stream.finish ?? '')
    const text = stream.refusal ?? stream.text
    if (text !== undefined) expect(response.text.slice(0, Math.max(text.length, 1))).toBe(text)
    if (stream.hasReasoning !== undefined) expect(events.some(({ kind }) => kind === 'reasoning')).toBe(stream.hasReasoning)
    expect(response.stop === 'refusal').toBe(stream.refusal !== undefined)
    expect(response.calls.map(({ id, name }) => ({ id, name }))).toEqual(
      stream.calls.map(({ id, name }) => ({ id: id ?? expect.any(String), name })),
    )
    for (const [n, call] of response.calls.entries()) expectCall(call, stream.calls[n] as ExpectedCall)
    expect(rejections.map(({ ordinal }) => ordinal)).toEqual(
      [...stream.calls.keys()].filter((ordinal) => stream.calls[ordinal]?.executable === false),
    )
  })
})

/** A call without bytes may still run as `{}` by the validator's explicit rule; every other problem keeps it from running. */
function expectCall(call: Call, expected: ExpectedCall): void {
  if (expected.executable === false) {
    expect(call.problem).not.toBeNull()
    if (expected.args_raw !== undefined) expect(call.raw).toBe(expected.args_raw)
    if (expected.reason !== undefined) expect(call.problem).toBe(expected.reason)
    return
  }
  expect([null, 'no_arguments']).toContain(call.problem)
  expect(JSON.parse(argumentText(call))).toEqual(expected.args)
}

/** The tools accept anything here, so only the stream itself can be at fault. */
async function answerTo({ bytes, calls }: StreamCase, pieceBytes?: number) {
  const names = [...new Set(calls.map(({ name }) => name))]
  const declarations: Declaration[] = names.map((name) => tool(name, { type: 'object' }))
  const fetch = answering(bytes, pieceBytes === undefined ? {} : { pieceBytes })
  const provider = openaiChat(agentOf({}, { provider: 'openai-chat' }), fetch)
  const { events, ending } = await readToEnd(provider, { tools: declarations })
  const { stop, finish } = ending?.kind === 'finished' ? ending : { stop: 'cut' as const, finish: '' }
  return { round: checked({ ...proposedFor(events, { stop, finish, declarations }), offered: names }), events, finish }
}
