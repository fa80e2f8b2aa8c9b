// The checker of a provider's limits with violations planted in a sound run. A checker that never reports
// anything proves nothing.

import { describe, expect, it } from '@jest/globals'
import { mostOf, providerLimits } from '../checkers/turns/provider-limits.ts'
import type { Disturbance, ProviderRequest } from '../evidence.ts'
import { soundRun } from './sound-run.ts'

const limits = { requestsAtOnce: 2, requestsPerMinute: 3 }

async function problems(
  requests: ProviderRequest[],
  disturbances: Disturbance[] = [],
): Promise<string[]> {
  const run = { ...soundRun(), disturbances, provider: { requests, limits } }
  return (await providerLimits.check(run)).map(({ problem }) => problem)
}

const request = (at: number, forMs = 100): ProviderRequest => ({ at, until: at + forMs })

describe('the checker of the limits of a provider', () => {
  it('allows as many requests at once and in a minute as the limits allow', async () => {
    const requests = [0, 50, 30_000, 60_001].map((at) => request(at))
    expect(await problems(requests)).toEqual([])
    expect(mostOf({ requests, limits })).toEqual({ atOnce: 2, perMinute: 3 })
  })

  it('reports a request beyond those that run', async () => {
    expect(await problems([request(0, 90), request(10), request(80), request(30_000)])).toEqual([
      '3 requests run at 80, at most 2 may',
      '4 requests start within 59000 ms at 30000, at most 3 a minute may',
    ])
  })

  it('counts no request that starts while the broker is away, or soon after', async () => {
    const away: Disturbance = { kind: 'broker', process: 'broker', from: 70, to: 200 }
    expect(
      await problems([request(0, 90), request(10), request(80), request(20_150)], [away]),
    ).toEqual([])
  })

  it('reports a request within a wait that the provider named, unless a fault struck a gateway', async () => {
    const refused = { ...request(0, 10), waitMs: 4_000 }
    const late = [refused, request(900), request(3_000)]
    const killed: Disturbance = { kind: 'kill', process: 'llm-gateway-1#1', from: 500, to: 600 }
    expect(await problems(late)).toEqual([
      'a request starts 2990 ms after a refusal that named a wait of 4000 ms',
    ])
    expect(await problems(late, [killed])).toEqual([])
  })
})
