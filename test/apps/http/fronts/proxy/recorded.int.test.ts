// Every recorded stream through the proxy, cut at many places: the client gets the same bytes.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Api, streamFixtures } from '../../../../support/provider-streams.ts'
import { scriptedGuard } from '../../scripted-guard.ts'
import { type Proxied, proxied } from './proxied.ts'
import { type ApiCase, chatCase, messagesCase, responsesCase } from './requests.ts'

const cases: [Api, ApiCase][] = [
  ['anthropic', messagesCase],
  ['openai-chat', chatCase],
  ['openai-responses', responsesCase],
]
/** Places of one stream that are tried. All of them would take minutes. */
const cutsMax = 12

describe.each(cases)(
  'recorded streams of %s through the proxy',
  (api, { path, request, answer }) => {
    const fixtures = streamFixtures(api) ?? []
    let proxy: Proxied
    let next: { bytes: Buffer; cut: number }

    beforeAll(async () => {
      proxy = await proxied(scriptedGuard(), async (_, response) => {
        const { bytes, cut } = next
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(bytes.subarray(0, cut))
        await sleep(1) // a piece for each write
        response.end(bytes.subarray(cut))
      })
    })

    afterAll(() => proxy.close())

    const own = { name: 'a whole answer', bytes: Buffer.from(JSON.stringify(answer)) }
    it.each([own, ...fixtures.map(({ name, bytes }) => ({ name, bytes }))])(
      'pass unchanged wherever the network cuts them: $name',
      async ({ bytes }) => {
        const step = Math.max(1, Math.floor(bytes.length / cutsMax))
        for (let cut = 1; cut < bytes.length; cut += step) {
          next = { bytes, cut }
          const answer = await fetch(proxy.url + path, { method: 'POST', body: request })
          expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
          expect(proxy.received.pop()?.body.toString()).toBe(request)
        }
        await proxy.settled()
      },
    )
  },
)
