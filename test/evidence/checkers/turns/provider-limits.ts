// The limits of a model, as the stand-in of its provider counts requests. The line of an account lets no
// request start beyond `requestsAtOnce`, beyond `requestsPerMinute`, or within a wait that the provider named.
// A process that cannot read the line waits for nothing: so a request that starts while the broker is away,
// or soon after, counts for nothing here. A request can reach the provider late.

import {
  boundOn,
  type Checker,
  type Evidence,
  type Finding,
  type ProviderRequest,
  type ProviderSeen,
} from '../../evidence.ts'
import { isDisturbed } from '../calls/no-start-after-stop.ts'

const minuteMs = 60_000
const idleBoundMs = 1_000
/** The longest time in which a reservation is read, and a start that follows. */
const unreadMs = 20_000

export const providerLimits: Checker<'provider' | 'disturbances'> = {
  name: 'provider-limits',
  rule: 'No request reaches the provider beyond the limits of its model, or within a wait that the provider named.',
  needs: ['provider', 'disturbances'],
  check(evidence) {
    const { provider, disturbances } = evidence
    const broken = disturbances.filter(({ kind }) => kind === 'broker')
    const counted = provider.requests
      .filter(({ at }) => !broken.some(({ from, to }) => from <= at && at < to + unreadMs))
      .toSorted((a, b) => a.at - b.at)
    const boundMs = boundOn(evidence, idleBoundMs)
    return [
      ...atOnce(counted, provider),
      ...perMinute(counted, provider, minuteMs - boundMs),
      ...withinWaits(counted, evidence, boundMs),
    ]
  },
}

/** The most requests at once, and in a minute. */
export function mostOf({ requests }: ProviderSeen): { atOnce: number; perMinute: number } {
  const sorted = requests.toSorted((a, b) => a.at - b.at)
  return {
    atOnce: Math.max(0, ...sorted.map((one, n) => runningAt(sorted, n, one.at))),
    perMinute: Math.max(0, ...sorted.map((one, n) => startsSince(sorted, n, one.at - minuteMs))),
  }
}

function atOnce(counted: ProviderRequest[], { limits }: ProviderSeen): Finding[] {
  return counted.flatMap(({ at }, n) => {
    const running = runningAt(counted, n, at)
    return running <= limits.requestsAtOnce
      ? []
      : [{ problem: `${running} requests run at ${at}, at most ${limits.requestsAtOnce} may` }]
  })
}

function perMinute(counted: ProviderRequest[], { limits }: ProviderSeen, ms: number): Finding[] {
  return counted.flatMap(({ at }, n) => {
    const starts = startsSince(counted, n, at - ms)
    return starts <= limits.requestsPerMinute
      ? []
      : [
          {
            problem: `${starts} requests start within ${ms} ms at ${at}, at most ${limits.requestsPerMinute} a minute may`,
          },
        ]
  })
}

/** The gateway that got the refusal tells the others, unless a fault strikes it. */
function withinWaits(
  counted: ProviderRequest[],
  { provider, disturbances = [] }: Pick<Evidence, 'disturbances'> & { provider: ProviderSeen },
  boundMs: number,
): Finding[] {
  return provider.requests.flatMap(({ until, waitMs }) => {
    if (waitMs === undefined) return []
    const end = until + waitMs
    if (isDisturbed(disturbances, 'llm-gateway', { from: until - boundMs, to: end })) return []
    return counted
      .filter(({ at }) => at > until + boundMs && at < end)
      .map(({ at }) => ({
        problem: `a request starts ${at - until} ms after a refusal that named a wait of ${waitMs} ms`,
      }))
  })
}

/** With the request at this place, the newest one. */
function runningAt(sorted: ProviderRequest[], place: number, at: number): number {
  return sorted.slice(0, place + 1).filter((one, n) => n === place || one.until > at).length
}

function startsSince(sorted: ProviderRequest[], place: number, since: number): number {
  return sorted.slice(0, place + 1).filter(({ at }) => at > since).length
}
