// A connection to a silent peer: a machine that was cut off, or a stopped process.

import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { openLink } from '../../../../../shared/bus/kafka/cluster/link.ts'
import { systemClock } from '../../../../../shared/lib/clock.ts'

const sockets: Socket[] = []
const server = createServer((socket) => {
  sockets.push(socket)
  socket.on('error', () => {})
  if (answersVersions)
    socket.on(
      'data',
      (data) => data.readInt16BE(4) === 18 && socket.write(versionsAnswer(data.readInt32BE(8))),
    )
})
let answersVersions = false
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
})

/** ApiVersions: no error, and one request in one version. */
function versionsAnswer(correlation: number): Buffer {
  const answer = Buffer.alloc(4 + 4 + 2 + 4 + 6 + 4)
  answer.writeInt32BE(answer.length - 4, 0)
  answer.writeInt32BE(correlation, 4)
  answer.writeInt32BE(1, 10)
  answer.writeInt16BE(12, 14)
  answer.writeInt16BE(3, 18)
  return answer
}

async function listening(): Promise<{ host: string; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

describe('a broker that says nothing', () => {
  const options = { clock: systemClock, log: () => () => {} }
  const lost = { name: expect.stringMatching(/^KafkaJS(ConnectionError|RequestTimeoutError)$/) }

  it('is disconnected if the connection does not finish', async () => {
    answersVersions = false
    const node = await listening()
    const client = {
      brokers: [],
      connectionTimeout: 100,
      authenticationTimeout: 100,
      requestTimeout: 100,
    }
    await expect(openLink(node, { ...options, client })).rejects.toMatchObject(lost)
  })

  it('is disconnected after a request without a response: the link closes, and later requests fail', async () => {
    answersVersions = true
    const node = await listening()
    const link = await openLink(node, {
      ...options,
      client: { brokers: [], requestTimeout: 1_000 },
    })
    const heartbeat = () =>
      link.request((broker) =>
        broker.heartbeat({ groupId: 'g', groupGenerationId: 1, memberId: 'm' }),
      )
    const [first, second] = [heartbeat(), heartbeat()]
    await expect(first).rejects.toMatchObject(lost)
    await expect(second).rejects.toMatchObject({ name: 'KafkaJSConnectionError' })
    expect(link.isOpen).toBe(false)
  })
})
