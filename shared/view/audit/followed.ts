// The end of an audited call in one word. Pages of the browser show the word too.

import type { ResultStatus } from '../../contract/messages.ts'
import type { AuditedCall } from './entries.ts'

/** `not run`: it was denied, or nobody answered in time. `not known`: the round has not ended. */
export function followedWord({
  action,
  followed,
}: Pick<AuditedCall, 'action' | 'followed'>): ResultStatus | 'not run' | 'not known' {
  if (action === 'deny' || action === 'expired') return followed?.status ?? 'not run'
  return followed?.status ?? 'not known'
}
