// The owner of a data folder as other processes see it. Its requests may be any JSON.

import { describe, expect, it } from '@jest/globals'
import { createContexts } from '../../../client/agents/contexts.ts'
import { createStageHost, linkContextBytesMax } from '../../../client/place/stage-host.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { testAgent } from '../../support/pipeline.ts'

const message = { conversation: 'c', messageId: 'm' }
const link = {}

function host() {
  const agent = testAgent('http://127.0.0.1:1', { tools: () => [] }, '/dev/null')
  const contexts = createContexts(async () => undefined)
  const created = createStageHost({
    agents: new Map([[agent.name, agent]]),
    guards: ['no-rome'],
    topicPrefix: 'weir.',
    partitions: 4,
    keep: contexts.keep,
  })
  return { ...created, contexts }
}

describe('the owner of a data folder', () => {
  it('answers a hello after its stages run, with its agents', async () => {
    const { answer, serve } = host()
    let isAnswered = false
    const welcome = answer(link, { type: 'hello', pid: 7, guards: [] }).finally(() => {
      isAnswered = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(isAnswered).toBe(false)
    serve()
    expect(await welcome).toMatchObject({
      pid: process.pid,
      topicPrefix: 'weir.',
      partitions: 4,
      agents: { 'test-agent': { tools: {} } },
    })
  })

  it('names its guards and those of the processes next to it, until they leave', async () => {
    const { answer, serve, left } = host()
    serve()
    await answer(link, { type: 'hello', pid: 7, guards: ['shell'] })
    const other = {}
    expect(await answer(other, { type: 'state' })).toEqual({
      pid: process.pid,
      agents: ['test-agent'],
      guards: ['no-rome'],
      beside: [{ pid: 7, guards: ['shell'] }],
    })
    left(link)
    expect(await answer(other, { type: 'state' })).toMatchObject({ beside: [] })
  })

  it('keeps a context until it is dropped, or its process ends', async () => {
    const { answer, left, contexts } = host()
    const keep = (messageId: string) =>
      answer(link, {
        type: 'keep-context',
        message: { ...message, messageId },
        value: '{"user":"ada"}',
      })
    await keep('m')
    await keep('m')
    await keep('n')
    expect(contexts.kept().map(({ value }) => value)).toEqual([{ user: 'ada' }, { user: 'ada' }])
    await answer(link, { type: 'drop-context', message })
    expect(contexts.kept()).toMatchObject([{ message: { messageId: 'n' } }])
    left(link)
    expect(contexts.kept()).toEqual([])
  })

  it('refuses contexts above the limit for all processes, and takes them again after drops', async () => {
    const { answer, left } = host()
    const value = JSON.stringify('x'.repeat(limits.recordedContextBytesMax - 2))
    const keep = (n: number) =>
      answer(link, { type: 'keep-context', message: { ...message, messageId: `${n}` }, value })
    const many = linkContextBytesMax / limits.recordedContextBytesMax
    for (let n = 0; n < many; n += 1) await keep(n)
    await expect(keep(many)).rejects.toMatchObject({ code: 'bus.full' })
    left(link)
    expect(await keep(many)).toBeNull()
  })

  it.each([
    [null, 'an object is missing'],
    [{ type: 'sing' }, 'its type is "sing"'],
    [{ type: 'hello', pid: '7', guards: [] }, 'pid is no number'],
    [{ type: 'hello', pid: 7, guards: 'all' }, 'guards is no list'],
    [{ type: 'hello', pid: 7, guards: [7] }, 'a text is missing'],
    [{ type: 'keep-context', message, value: '{' }, 'a context is not JSON'],
    [
      { type: 'keep-context', message, value: 'x'.repeat(limits.recordedContextBytesMax + 1) },
      'a context has 65537 bytes',
    ],
    [
      { type: 'keep-context', message: { ...message, messageId: '' }, value: '1' },
      'the message id has 0 bytes',
    ],
  ])('refuses the request %j', async (request, words) => {
    await expect(host().answer(link, request)).rejects.toMatchObject({
      code: 'message.invalid',
      message: expect.stringContaining(words),
    })
  })
})
