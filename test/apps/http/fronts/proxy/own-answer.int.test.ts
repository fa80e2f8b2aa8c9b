// The answers of Weir in the place of a model, read by the official SDKs.

import { afterEach, describe, expect, it } from '@jest/globals'
import { scriptedGuard } from '../../scripted-guard.ts'
import { loopingModel } from './looping-model.ts'
import { type Proxied, proxied } from './proxied.ts'
import { sdkAgents } from './sdk-clients.ts'

let proxy: Proxied | undefined

afterEach(() => proxy?.close())

const forms = [
  ['whole', false],
  ['streamed', true],
] as const

describe.each(sdkAgents)("an agent on the SDK's %s", (_, run) => {
  it.each(forms)('takes the end of its turn as a reply (%s)', async (_, isStreamed) => {
    const guard = scriptedGuard({ before: () => ({ action: 'end', reason: 'No progress.' }) })
    proxy = await proxied(guard, loopingModel())
    const { requests, reply } = await run(proxy.url, isStreamed)
    expect(requests).toBe(2)
    expect(reply).toBe('Weir ended the turn: No progress.\n\nI could not do this.')
    expect(proxy.received).toHaveLength(1)
  })

  it.each(forms)('ends in a text when its calls are forbidden (%s)', async (_, isStreamed) => {
    const guard = scriptedGuard({ before: () => ({ action: 'text_only', text: 'Stop calling.' }) })
    proxy = await proxied(guard, loopingModel())
    const { requests, reply } = await run(proxy.url, isStreamed)
    expect([requests, reply]).toEqual([2, 'I stop here.'])
  })

  it.each(forms)('runs to its own cap without advice (%s)', async (_, isStreamed) => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, loopingModel())
    expect(await run(proxy.url, isStreamed)).toEqual({ requests: 25, reply: undefined })
    await proxy.settled()
    const ids = new Set(guard.asked.map(({ id }) => id))
    expect(ids.size).toBe(1)
    expect(guard.asked).toHaveLength(49) // the first request has nothing to judge
  })
})
