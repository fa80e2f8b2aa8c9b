// Each way in which a server breaks its protocol, through the real SDK, the accumulator and the
// validator.

import { describe, expect, it } from '@jest/globals'
import { judgedRound } from '../../../apps/transcripts/normalize/judged-round.ts'
import { connect } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { argumentText } from '../../../shared/contract/call/call.ts'
import { type OddStream, oddStreams, oddTools } from './odd-streams.ts'
import { agentOf, readToEnd } from './samples.ts'

/**
 * The body of the next answer. Each API connects once: making a client takes longer than a stream.
 */
let answer = Buffer.of()
const fetch = () =>
  Promise.resolve(new Response(answer, { headers: { 'content-type': 'text/event-stream' } }))
const connected = {
  anthropic: connect(agentOf({}, { provider: 'anthropic' }), fetch),
  'openai-chat': connect(agentOf({}, { provider: 'openai-chat' }), fetch),
  'openai-responses': connect(agentOf({}, { provider: 'openai-responses' }), fetch),
}

/** The calls, in the notation of odd-streams.ts. */
async function callsOf({ api, body }: OddStream, bytes = Buffer.from(body)): Promise<string[]> {
  answer = bytes
  const { events, ending } = await readToEnd(await connected[api])
  const { response, denials } = judgedRound({ events, ending, tools: oddTools })
  return response.calls.map((call) => {
    const denial = denials.find(({ ordinal }) => ordinal === call.ordinal)
    return `${call.name} ${denial === undefined ? argumentText(call) : (call.problem ?? denial.code)}`
  })
}

describe.each(oddStreams.map((stream) => [stream.api, stream.name, stream] as const))(
  '%s with %s',
  (_api, _name, stream) => {
    it('runs exactly the intended calls', async () => {
      expect(await callsOf(stream)).toEqual(stream.calls)
    })

    it('runs nothing more when it is cut off', async () => {
      const bytes = Buffer.from(stream.body)
      for (let at = 0; at < bytes.length; at += 11) {
        const runs = (await callsOf(stream, bytes.subarray(0, at))).filter((call) =>
          call.endsWith('}'),
        )
        expect([at, runs.filter((call) => !stream.calls.includes(call))]).toEqual([at, []])
      }
    })
  },
)
