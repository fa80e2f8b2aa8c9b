// The model proxy over HTTP, before a model server that answers as the transcript does. At the action
// `end` the proxy answers in the model's place, and the turn is over.

import type { GuardSession, GuestFormat } from '../../client/guard/guest-conversation.ts'
import type { Transcript } from '../../shared/transcript/transcript.ts'
import { type Proxied, proxied } from '../apps/http/fronts/proxy/proxied.ts'
import { sendJson } from '../apps/http/fronts/proxy/scripted-upstream.ts'
import { answerOf, requestOf } from '../support/guest-requests.ts'
import { stepsOf } from './core-drivers.ts'
import type { Driver } from './driver.ts'
import { shownIn, withoutSilenceAtEnd } from './formats.ts'

const paths = {
  anthropic: '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
} satisfies Partial<Record<GuestFormat, string>>
type ProxyFormat = keyof typeof paths
export const proxyFormats = Object.keys(paths) as ProxyFormat[]

/** The proxy passes this header on, so the model server knows the thread. */
const threadHeader = 'x-parity-thread'

export type ProxyForParity = { driver(format: ProxyFormat): Driver; close(): Promise<void> }

/** One server for all transcripts. */
export async function proxyForParity(): Promise<ProxyForParity> {
  // By thread.
  const guards = new Map<string, GuardSession>()
  const answers = new Map<string, unknown>()
  const server: Proxied = await proxied(
    { conversation: (id, options) => (guards.get(id) as GuardSession).conversation(id, options) },
    ({ headers }, response) => {
      server.received.length = 0
      const answer = answers.get(`${headers[threadHeader]}`)
      // A failed request makes no round.
      if (answer === undefined) sendJson(response, { error: { message: 'over' } }, 500)
      else sendJson(response, answer)
    },
  )
  return {
    driver: (format) => ({
      name: `the proxy, ${format}`,
      endsAt: 'end', // the proxy reports that the turn is over
      shows: (scenario) => withoutSilenceAtEnd(format, shownIn(format, scenario)),
      leavesOut: unjudged,
      async drive([guard], transcript, thread) {
        guards.set(thread, guard)
        for (const { before, said } of stepsOf(transcript)) {
          const request = requestOf(format, before, transcript.tools)
          answers.set(thread, said && answerOf(request, said).answer)
          const headers = {
            'content-type': 'application/json',
            'x-weir-conversation': thread,
            [threadHeader]: thread,
          }
          const body = JSON.stringify({ model: 'm', ...(request.body as object) })
          const response = await fetch(server.url + paths[format], {
            method: 'POST',
            headers,
            body,
          })
          await response.arrayBuffer()
          if (response.headers.get('x-weir') === 'unjudged')
            throw new Error('a request was not judged')
          await server.settled()
        }
      },
    }),
    async close() {
      await server.close()
      // Otherwise the next history would show the round, and the parity would be that of the core.
      if (server.logged().includes('an answer is no round'))
        throw new Error('the proxy did not read an answer as a round')
    },
  }
}

function unjudged({ tools }: Transcript): string | undefined {
  return tools?.length === 0 ? 'the proxy judges no request without tools' : undefined
}
