// Pairs results with calls in any list of messages, even if some are lost, doubled or out of place.
//
// CALL-PAIRS-1. A result belongs to the last call of its id before it. Of several in one message,
//     the first result goes to the first call, because models reuse ids.
// CALL-PAIRS-2. A call without such a result takes one of its id that stands before every call of
//     that id: the order was lost.
// CALL-PAIRS-3. Each result belongs to at most one call. The rest are duplicates or lost their
//     call.

/** `at`: the place of its message in the list. */
export type Placed<T> = { id: string; at: number; value: T }

/** Maps each call to its result, if it has one. Both lists are in message order. */
export function pairs<C, R>(calls: Placed<C>[], results: Placed<R>[]): Map<C, R> {
  const callsById = grouped(calls)
  const resultsById = grouped(results)
  const found = new Map<C, R>()
  for (const [id, own] of callsById) {
    const open = new Set(resultsById.get(id) ?? [])
    const take = (call: Placed<C>, fits: (result: Placed<R>) => boolean): void => {
      for (const result of open) {
        if (!fits(result)) continue
        open.delete(result)
        found.set(call.value, result.value)
        return
      }
    }
    for (const call of own) {
      const next = own.find(({ at }) => at > call.at)?.at ?? Number.POSITIVE_INFINITY
      take(call, ({ at }) => at > call.at && at <= next)
    }
    const first = own[0]?.at ?? 0
    for (const call of own) if (!found.has(call.value)) take(call, ({ at }) => at <= first)
  }
  return found
}

function grouped<T>(placed: Placed<T>[]): Map<string, Placed<T>[]> {
  const groups = new Map<string, Placed<T>[]>()
  for (const one of placed) {
    const group = groups.get(one.id)
    if (group === undefined) groups.set(one.id, [one])
    else group.push(one)
  }
  return groups
}

/**
 * Returns each id unchanged if the provider accepts its form and no earlier call has it, otherwise
 * a new one. `made` builds an id of an accepted form.
 */
export function uniqueIds(
  taken: RegExp,
  made: (place: string) => string,
): (sent: string) => string {
  const used = new Set<string>()
  const times = new Map<string, number>()
  return (sent) => {
    let id = sent
    let n = times.get(sent) ?? 0
    for (; used.has(id) || !taken.test(id); n += 1) id = made(`${sent}_${n + 1}`)
    used.add(id)
    times.set(sent, n)
    return id
  }
}
