// The filter of the commands: `--where`, and a flag for each of its keys that people type most.
// Checked before a log is opened.

import type { ReadableLog } from '../../client/history/readable-log.ts'
import { openSearch } from '../../client/search/search.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import {
  conditionsOf,
  filterFrom,
  isEmptyFilter,
  type Sort,
  sortNamed,
  type TurnFilter,
} from '../../shared/view/filter/turn-filter.ts'

export type FilterOptions = {
  where?: string[]
  text?: string[]
  since?: string
  until?: string
}

/** Throws `usage` with the accepted keys and values. */
export function filterOf({ where = [], text = [], since, until }: FilterOptions): TurnFilter {
  const flag = (key: string, value: string) => ({ key, value, place: `--${key}` })
  return filterFrom(
    [
      ...conditionsOf(where),
      ...text.map((one) => flag('text', one)),
      ...(since === undefined ? [] : [flag('since', since)]),
      ...(until === undefined ? [] : [flag('until', until)]),
    ],
    systemClock.now(),
  )
}

/** Throws `usage`. */
export function sortOf(sort: string | undefined): Sort {
  return sort === undefined ? 'time' : sortNamed(sort, '--sort')
}

/**
 * The turns that match. Undefined: all. Throws `usage` for an agent, a tool, a guard or a tenant that no
 * turn has.
 */
export async function turnsFound(
  log: ReadableLog,
  filter: TurnFilter,
): Promise<Map<ConversationId, Set<number>> | undefined> {
  if (isEmptyFilter(filter)) return undefined
  const search = openSearch(log)
  try {
    await search.refresh()
    search.assertKnown(filter)
    return await search.turns(filter)
  } finally {
    await search.close()
  }
}
