// Every recorded stream through the veto, cut at many places. An allowed answer means the same to the
// official SDK. No call of an answer without a verdict reaches the client.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type {
  AnyGuestAnswer,
  CallVerdict,
} from '../../../../../../client/guard/guest-conversation.ts'
import { type Api, streamFixtures } from '../../../../../support/provider-streams.ts'
import { sdkAnswer } from '../../../../../support/sdk-answer.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { type Proxied, proxied } from '../proxied.ts'
import { type ApiCase, chatCase, messagesCase, responsesCase } from '../requests.ts'
import { piecesOf } from './answers.ts'

const cases: [Api, ApiCase, RegExp][] = [
  ['anthropic', messagesCase, /"type":\s*"tool_use"/],
  ['openai-chat', chatCase, /"(tool_calls|function_call)":\s*[[{]/],
  ['openai-responses', responsesCase, /"type":\s*"(function|custom_tool)_call"|arguments\.delta/],
]
const cutsMax = 6
/** Clients differ in places that are missing or repeated, and the print has one reading. */
const repaired = new Set([
  'chat-mistral-index-missing.chunks.jsonl',
  'C3 index-jump-1-3',
  'C4 index-all-zero-diff-ids',
  'C10a id-missing',
])
const isUnjudged = /Weir cannot judge|Weir could not judge/

describe.each(cases)('a recorded stream of %s under the veto', (api, { path, request }, aCall) => {
  const fixtures = streamFixtures(api) ?? []
  let proxy: Proxied
  let next: { bytes: Buffer; cut: number }
  let code: CallVerdict['code'] = ''

  function verdictsOn(answered: AnyGuestAnswer): CallVerdict[] {
    const verdict = code === '' ? 'allow' : 'deny'
    const pieces = 'pieces' in answered ? answered.pieces : []
    return pieces.flatMap((piece) =>
      piece.kind === 'call'
        ? [{ callId: piece.id ?? '', name: '', verdict, text: '', code } as const]
        : [],
    )
  }

  beforeAll(async () => {
    proxy = await proxied(
      scriptedGuard({ after: verdictsOn }),
      async (_, response) => {
        const { bytes, cut } = next
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(bytes.subarray(0, cut))
        await sleep(1) // a piece for each write
        response.end(bytes.subarray(cut))
      },
      '',
      { coversSubscriptions: true },
    )
  })

  afterAll(() => proxy.close())

  const sent = { url: path, body: Buffer.from('{"stream":true}') }
  const spoken = { text: 'Looking.', calls: [{ id: 'c1', args: '{"cmd":"ls"}' }] }
  const own = { name: 'an own stream', bytes: Buffer.from(piecesOf(sent, spoken).join('')) }

  it.each([own, ...fixtures.map(({ name, bytes }) => ({ name, bytes }))])(
    'means the same to the SDK, or has no call: $name',
    async ({ name, bytes }) => {
      const step = Math.max(1, Math.floor(bytes.length / cutsMax))
      const meant = await sdkAnswer(api, bytes).catch(() => undefined)
      const read = new Set<string>()
      for (let cut = 1; cut < bytes.length; cut += step) {
        next = { bytes, cut }
        for (code of ['', 'guest.unavailable'] as const) {
          const answer = await fetch(proxy.url + path, { method: 'POST', body: request })
          const got = await answer.text()
          if (isUnjudged.test(got)) expect(got).not.toMatch(aCall)
          else if (!read.has(got)) {
            const answer = await sdkAnswer(api, got).catch(() => undefined)
            if (!repaired.has(name)) expect(answer).toEqual(meant)
          }
          if (code !== '' && aCall.test(bytes.toString())) expect(got).toMatch(isUnjudged)
          read.add(got)
        }
      }
      await proxy.settled()
    },
  )
})
