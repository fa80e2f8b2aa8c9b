// Bounded memories (R7): when one is full, what was touched longest ago is forgotten. Order is that
// of the touches, so it depends on the log alone.

/** Puts the entry at the end of the map, with this value. */
export function touch<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  entriesMax: number,
): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > entriesMax) {
    for (const oldest of map.keys()) {
      map.delete(oldest)
      break
    }
  }
}

/** Whether the key is new; either way it is at the end of the set afterwards. */
export function meet<Key>(seen: Set<Key>, key: Key, entriesMax: number): boolean {
  const isNew = !seen.delete(key)
  seen.add(key)
  if (seen.size > entriesMax) {
    for (const oldest of seen) {
      seen.delete(oldest)
      break
    }
  }
  return isNew
}
