// Incident I1 through the proxy with the real stages: agents on the official SDKs, whose model calls a
// tool without its required parameter for ever.

import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type Fronts, openFronts } from '../../../../../client/guard/log/fronts.ts'
import { defaultGuestSettings } from '../../../../../shared/agents/guest.ts'
import { loopingModel } from './looping-model.ts'
import { type Proxied, proxied } from './proxied.ts'
import { sdkAgents } from './sdk-clients.ts'

let proxy: Proxied | undefined
let fronts: Fronts | undefined

afterEach(async () => {
  await proxy?.close()
  await fronts?.close()
})

const forms = [
  ['whole', false],
  ['streamed', true],
] as const

async function opened(isStubborn: boolean): Promise<Proxied> {
  const log = pino({ level: 'silent' })
  fronts = await openFronts({ kind: 'memory' }, { log })
  const guard = fronts.front({ agent: 'main', mode: 'observing' })
  proxy = await proxied(guard, loopingModel({ isStubborn }))
  return proxy
}

describe.each(sdkAgents)("incident I1 on the SDK's %s through the proxy", (_, run) => {
  it.each(forms)('ends in a text of the model after 5 requests (%s)', async (_, isStreamed) => {
    const { url, received, settled } = await opened(false)
    const { requests, reply } = await run(url, isStreamed)
    await settled()
    expect(requests).toBeLessThanOrEqual(5)
    expect(received.length).toBeLessThanOrEqual(5)
    expect(reply).toBe('I stop here.')
  })

  it.each(forms)('ends also a model that ignores the second action (%s)', async (_, isStreamed) => {
    const { url, received, settled } = await opened(true)
    const { requests, reply } = await run(url, isStreamed)
    await settled()
    expect(requests).toBeLessThanOrEqual(6)
    expect(received.length).toBeLessThanOrEqual(5)
    expect(reply).toContain(defaultGuestSettings.fallback)
  })
})
