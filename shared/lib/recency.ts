// Bounded memories (R7): a full one forgets the entry that is oldest by use. The order of use
// depends only on the log.

/** Sets the entry and makes it the newest of the map. */
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

/** Makes the key the newest of the set. Returns whether it was new. */
export function remember<Key>(seen: Set<Key>, key: Key, entriesMax: number): boolean {
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
