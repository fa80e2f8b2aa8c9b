// A log that has reached its limit refuses new turns, and the running ones end.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { Weir } from '../../client/weir.ts'
import { answerOf, outsideRecord } from '../../shared/bus/embedded/beside/outside-requests.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { refuseWithoutSpace } from '../../shared/bus/space.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { userMessage } from '../support/messages.ts'
import { testAgent, withPipeline } from '../support/pipeline.ts'
import { call, says, text } from '../support/script.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-space-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a log at its limit', () => {
  it('lets a running turn end, refuses the next one with both sizes, and accepts it with more room', async () => {
    let bytesMax = 0
    await withPipeline(
      {
        model: ({ messages }) => {
          bytesMax = 1 // while the first turn runs
          return JSON.stringify(messages).includes('tool_result')
            ? says(text('done'))
            : says(call('exec', { command: 'ls' }))
        },
        openBus: async (to) => {
          const bus = await openEmbeddedBus({ file: join(to, 'weir.db'), clock: systemClock })
          return { ...bus, space: () => ({ bytes: bus.space?.().bytes ?? 0, bytesMax }) }
        },
      },
      async ({ ask, server, starts }) => {
        expect((await ask('first')).finished.outcome).toBe('answered')
        expect(await starts()).toHaveLength(1)
        const requests = server.requests.length
        await expect(ask('second')).rejects.toMatchObject({
          code: 'bus.full',
          retryable: true,
          message: expect.stringMatching(/^the log has \d+ bytes, .* dataFolderBytesMax allows 1:/),
        })
        expect(server.requests).toHaveLength(requests)
        bytesMax = 0
        expect((await ask('third')).finished.outcome).toBe('answered')
      },
    )
  })

  it('refuses the message of a program that set the limit', async () => {
    const agent = testAgent('http://127.0.0.1:9', {}, '')
    const weir = await Weir.open({
      agents: new Map([[agent.name, agent]]),
      dataFolder: folder,
      dataFolderBytesMax: 1,
    })
    const turn = weir.ask({ agent: agent.name, text: 'hello' })
    await expect(turn.finished).rejects.toMatchObject({ code: 'bus.full' })
    await weir.close()
  })

  it('refuses the message of another process, and takes its cancel request', async () => {
    const bus = await openEmbeddedBus({
      file: join(folder, 'weir.db'),
      clock: systemClock,
      bytesMax: 1,
    })
    await bus.ensureTopics([
      { name: 'weir.client-messages', kind: 'log', partitions: 1, retentionMs: undefined },
    ])
    const request = (message: Parameters<typeof toRecord>[0]['message']) => ({
      type: 'append',
      topicPrefix: 'weir.',
      records: [outsideRecord(toRecord({ topic: 'weir.client-messages', partition: 0, message }))],
    })
    await expect(answerOf(bus, request(userMessage()))).rejects.toMatchObject({ code: 'bus.full' })
    const cancel = { type: 'cancel-requested', conversation: 'c', messageId: 'm1' } as const
    expect(await answerOf(bus, request(cancel))).toHaveLength(1)
    await bus.close()
  })

  it('counts the bytes in use, and no limit counts as room', async () => {
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    await bus.ensureTopics([{ name: 't', kind: 'log', partitions: 1, retentionMs: undefined }])
    const before = bus.space?.().bytes ?? 0
    await bus.append([{ topic: 't', partition: 0, key: 'k', value: Buffer.alloc(500_000) }])
    expect((bus.space?.().bytes ?? 0) - before).toBeGreaterThan(450_000)
    expect(bus.space?.().bytesMax).toBe(0)
    expect(() => refuseWithoutSpace(bus)).not.toThrow()
    expect(() => refuseWithoutSpace({})).not.toThrow()
    await bus.close()
  })
})
