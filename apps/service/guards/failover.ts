// Whether a guard's deadline survives the failure of its process. On a shared bus, another process
// gets its partitions only after the session of the failed one. Until then nobody answers.

import { busKindOf } from '../../../shared/bus/kinds.ts'
import type { Guard } from '../../../shared/contract/guard/guard.ts'
import type { Settings } from '../../../shared/settings/settings.ts'

/** The time of a failover after the session of a failed process: a join and the fold. */
const failoverMarginMs = 5_000

/** A sentence with the remedy. Undefined: the deadline is longer than a failover. */
export function failoverWarning(
  { name, deadlineMs, onTimeout }: Pick<Guard, 'name' | 'deadlineMs' | 'onTimeout'>,
  settings: Pick<Settings, 'bus' | 'sessionTimeoutMs'>,
): string | undefined {
  if (busKindOf(settings).isLocal) return undefined
  const failoverMs = settings.sessionTimeoutMs + failoverMarginMs
  if (deadlineMs >= failoverMs) return undefined
  const end = onTimeout === 'allow' ? 'run without its verdict' : 'are denied'
  return (
    `the deadline of ${name} is ${deadlineMs} ms, and a failover needs about ${failoverMs} ms: while it enforces, ` +
    `the calls after a failure of its process ${end}. Raise the deadline, or lower --session-timeout-ms (WEIR_SESSION_TIMEOUT_MS)`
  )
}
