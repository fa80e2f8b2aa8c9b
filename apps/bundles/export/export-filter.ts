// The filter of `weir export`: conversations, a stretch of time, and conditions on turns. Checked
// before a log is opened.

import type { ExportFilter } from '../../../client/bundle/selection.ts'
import { whereOf } from '../../../client/history/turn-filter.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { instantOfFlag } from '../../terminal/text/instant-text.ts'

export type FilterOptions = {
  conversation?: string[]
  since?: string
  until?: string
  where?: string[]
}

/** Throws `usage` with the accepted values. */
export function filterOf(
  { conversation = [], since, until, where = [] }: FilterOptions,
  now: Milliseconds,
): ExportFilter {
  const filter = {
    conversations: new Set(conversation),
    since: since === undefined ? 0 : instantOfFlag('--since', since, now),
    until: until === undefined ? Number.POSITIVE_INFINITY : instantOfFlag('--until', until, now),
    where: whereOf(where),
    isWhole: since === undefined && until === undefined && where.length === 0,
  }
  if (filter.since >= filter.until)
    throw usageError(`--since ${since} is not before --until ${until}`)
  return filter
}
