// The relay of an answer whose connection broke before the relay began.

import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from '@jest/globals'
import {
  type AnswerRelayOptions,
  createAnswerRelay,
} from '../../../../../apps/http/fronts/proxy/answer-relay.ts'

function passed({ breaks }: { breaks: 'upstream' | 'client' }) {
  const incoming = new IncomingMessage(new Socket())
  const outgoing = new ServerResponse(incoming)
  const client = new Socket()
  outgoing.assignSocket(client)
  const received = Object.assign(new IncomingMessage(new Socket()), { statusCode: 200 })
  const upstream = {
    url: 'http://127.0.0.1',
    signs: false,
    async send() {
      const closed = once(breaks === 'upstream' ? received : outgoing, 'close')
      if (breaks === 'upstream') received.destroy()
      else client.destroy()
      await closed
      return received
    },
  }
  const relay = createAnswerRelay({ upstream } as unknown as AnswerRelayOptions)
  const request = { path: '/v1/models', note: undefined, isCovered: false }
  const end = relay.passThrough(request, incoming, outgoing, new AbortController().signal)
  return { end, received, outgoing }
}

it('ends the answer to the client if the upstream broke before the relay began', async () => {
  const { end, outgoing } = passed({ breaks: 'upstream' })
  await expect(end).rejects.toThrow('the answer was cut')
  expect(outgoing.destroyed).toBe(true)
})

it('ends the answer of the upstream if the client left before the relay began', async () => {
  const { end, received } = passed({ breaks: 'client' })
  await expect(end).rejects.toThrow('the client has left')
  expect(received.destroyed).toBe(true)
})
