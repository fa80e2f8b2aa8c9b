import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, it } from '@jest/globals'
import { clientAnswer } from '../../../../../../apps/http/fronts/proxy/veto/client-answer.ts'
import type { VetoedFormat } from '../../../../../../shared/wire/proxied.ts'
import { modelFormats } from '../../../../../support/model-formats.ts'

/** A client whose connection is full after each write. */
class SlowClient extends EventEmitter {
  destroyed = false
  write() {
    setImmediate(() => this.emit('drain'))
    return false
  }
}

it('the wait for a slow client leaves no listener on its response', async () => {
  const client = new SlowClient()
  const answer = clientAnswer(
    client as unknown as ServerResponse,
    modelFormats[0] as VetoedFormat,
    {
      pingMs: 60_000,
    },
  )
  for (let n = 0; n < 20; n += 1) await answer.write([{ type: 'ping' }])
  answer.close()
  const counts = ['drain', 'close', 'error'].map((event) => client.listenerCount(event))
  expect(counts).toEqual([0, 0, 0])
})
