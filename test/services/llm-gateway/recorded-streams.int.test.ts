// Every recorded stream and every broken one, over HTTP through the real SDKs, the accumulator and
// the validator. Each call must have the right name and arguments, or the reason why it cannot run.
// Calls that run although they must not are listed separately: there must be none.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { judgedRound } from '../../../apps/transcripts/normalize/judged-round.ts'
import { connect } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { argumentText } from '../../../shared/contract/call/call.ts'
import type { Call, PartEvent, RoundChecked } from '../../../shared/contract/messages.ts'
import { declarationWith } from '../../support/messages.ts'
import { type ExpectedCall, streamFixtures } from '../../support/provider-streams.ts'
import { agentOf, readToEnd } from './samples.ts'

const apis = ['anthropic', 'openai-chat', 'openai-responses'] as const
const cases = apis.flatMap((api) => (streamFixtures(api) ?? []).map((stream) => ({ api, stream })))
const whereFixturesAre = cases.length === 0 ? describe.skip : describe

let server: Server
let origin: string

beforeAll(async () => {
  server = createServer((request, response) => {
    const [, place = '', pieceBytes = ''] = request.url?.split('/') ?? []
    const bytes = cases[Number(place)]?.stream.bytes ?? Buffer.alloc(0)
    request.resume().on('end', async () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let at = 0; at < bytes.length; at += Number(pieceBytes)) {
        response.write(bytes.subarray(at, at + Number(pieceBytes)))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

type Answer = {
  round: RoundChecked
  events: PartEvent[]
  finish: string
  error: string | undefined
}

async function answerTo(place: number, pieceBytes: number): Promise<Answer> {
  const { api, stream } = cases[place] as (typeof cases)[number]
  const tools = stream.tools?.map(({ name, schema }) => {
    return declarationWith({ name, schema: JSON.stringify(schema), timeoutMs: 1 })
  })
  const provider = await connect(
    agentOf({}, { provider: api, baseUrl: `${origin}/${place}/${pieceBytes}` }),
  )
  const { events, ending } = await readToEnd(provider, tools === undefined ? {} : { tools })
  const round = judgedRound({ events, ending, tools: stream.tools })
  const error = ending?.kind === 'failed' ? ending.reason : undefined
  return { round, events, finish: ending?.kind === 'finished' ? ending.finish : '', error }
}

/** A call in the notation of the fixtures: arguments if it runs, a reason if it does not. */
function outcomeOf(call: Call, { denials }: RoundChecked): Record<string, unknown> {
  const denial = denials.find(({ ordinal }) => ordinal === call.ordinal)
  const head = { id: call.id, name: call.name }
  return denial === undefined
    ? { ...head, args: JSON.parse(argumentText(call)) }
    : { ...head, reason: call.problem, raw: call.raw }
}

function expectedOf({
  id,
  name,
  args,
  executable,
  reason,
  args_raw: raw,
  kind,
  input_text: input,
}: ExpectedCall): Record<string, unknown> {
  const head = { id: id ?? expect.any(String), name }
  if (kind === 'custom') return { ...head, reason: 'free_text', raw: input }
  return executable === false
    ? { ...head, reason: reason ?? expect.any(String), raw: raw ?? expect.any(String) }
    : { ...head, args }
}

whereFixturesAre.each([1 << 20, 1024, 64])('in pieces of %i bytes over HTTP', (pieceBytes) => {
  it.each(cases.map(({ api, stream }, place) => [api, stream.name, stream, place] as const))(
    '%s %s',
    async (_api, _name, stream, place) => {
      const { round, events, finish, error } = await answerTo(place, pieceBytes)
      const calls = round.response.calls.map((call) => outcomeOf(call, round))
      const unsafe = calls.filter(
        (call, n) => 'args' in call && stream.calls[n]?.executable === false,
      )
      expect(unsafe).toEqual([])
      expect(calls).toEqual(stream.calls.map(expectedOf))

      const textOf = (kind: PartEvent['kind']) =>
        events.flatMap((event) => (event.kind === kind ? [event.text] : [])).join('')
      expect(error ?? '').toContain(stream.error?.message.slice(0, 80) ?? '')
      if (stream.finish !== undefined && error === undefined)
        expect(finish).toBe(stream.finish ?? '')
      const { text, refusal = '' } = stream
      if (text !== undefined) expect(textOf('text').slice(0, Math.max(text.length, 1))).toBe(text)
      expect(textOf('refusal').slice(0, Math.max(refusal.length, 1))).toBe(refusal)
      if (stream.hasReasoning !== undefined)
        expect(textOf('reasoning') !== '' || textOf('reasoning_block') !== '').toBe(
          stream.hasReasoning,
        )
    },
  )
})
