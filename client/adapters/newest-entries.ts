// A map with its newest entries only, for the state that an adapter keeps between two callbacks.

/** Sets the entry as the newest one, and drops the oldest one beyond `max`. */
export function keepNewest<T>(
  entries: Map<string, T>,
  { key, value, max }: { key: string; value: T; max: number },
): void {
  entries.delete(key)
  entries.set(key, value)
  const [oldest] = entries.keys()
  if (entries.size > max && oldest !== undefined) entries.delete(oldest)
}
