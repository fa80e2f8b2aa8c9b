// Anthropic's recorded streams and those broken by hand, through the real SDK and the accumulator, cut into pieces of several sizes.

import { describe, expect, it } from '@jest/globals'
import { accumulator } from '../../../services/accumulator/reducer.ts'
import { anthropic } from '../../../services/llm-gateway/anthropic.ts'
import { defaultPolicy } from '../../../shared/agents.ts'
import { argumentText } from '../../../shared/call.ts'
import type { Call, PartEvent, Response, RoundProposed } from '../../../shared/messages.ts'
import { given } from '../../support/given.ts'
import type { ExpectedCall, StreamCase } from '../../support/provider-streams.ts'
import { answering, streamFixtures } from '../../support/provider-streams.ts'
import { agentOf, readToEnd } from './samples.ts'

const fixtures = streamFixtures('anthropic')
const whereFixturesAre = fixtures === undefined ? describe.skip : describe
const cases: StreamCase[] = fixtures ?? [{ name: 'no fixtures here', bytes: Buffer.alloc(0), calls: [] }]

whereFixturesAre.each([
  ['whole', undefined],
  ['in pieces of 7 bytes', 7],
  ['byte by byte', 1],
] as const)('Anthropic streams, %s', (_, pieceBytes) => {
  it.each(cases.map((stream) => [stream.name, stream] as const))('%s', async (_name, stream) => {
    const { response, events, finish } = await answerTo(stream, pieceBytes)
    if (stream.finish !== undefined) expect(finish).toBe(stream.finish ?? '')
    if (stream.text !== undefined) expect(response.text.slice(0, stream.text.length)).toBe(stream.text)
    if (stream.text === '') expect(response.text).toBe('')
    if (stream.hasReasoning !== undefined) expect(events.some(({ kind }) => kind === 'reasoning')).toBe(stream.hasReasoning)
    expect(response.calls.map(({ id, name }) => ({ id, name }))).toEqual(
      stream.calls.map(({ id, name }) => ({ id: id ?? expect.any(String), name })),
    )
    for (const [n, call] of response.calls.entries()) expectCall(call, stream.calls[n] as ExpectedCall)
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

async function answerTo(stream: StreamCase, pieceBytes?: number): Promise<{ response: Response; events: PartEvent[]; finish: string }> {
  const fetch = answering(stream.bytes, pieceBytes === undefined ? {} : { pieceBytes })
  const { events, ending } = await readToEnd(anthropic(agentOf(), fetch))
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const { stop, finish, usage } = ending?.kind === 'finished' ? ending : { stop: 'cut' as const, finish: '', usage: none }
  const round = { conversation: 'c', turn: 0, round: 1 }
  const judged = { declarations: [], agent: 'agent', policy: defaultPolicy, callsLeft: 1, expiresAt: 1000, failure: null }
  const [proposed] = given(
    accumulator,
    { type: 'model-opened', ...round, offered: [], expiresAt: 1000 },
    { type: 'part', ...round, attempt: 'a', i: 0, events },
    { type: 'model-finished', ...round, attempt: 'a', parts: 1, finish, stop, usage, ...judged },
  ).to('next') as RoundProposed[]
  return { response: (proposed as RoundProposed).response, events, finish }
}
