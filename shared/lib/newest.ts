// A map that keeps the entries used last (R7).

export type Newest<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  /** The value of the key, made if there is none. */
  at(key: string, make: () => Value): Value
}

/** `sizeOf`: the part of `sizeMax` that a value takes when it is set. An entry above it is not kept. */
export function newest<Value>(
  sizeMax: number,
  sizeOf: (value: Value) => number = () => 1,
): Newest<Value> {
  const values = new Map<string, { value: Value; size: number }>()
  let total = 0
  const remove = (key: string) => {
    total -= values.get(key)?.size ?? 0
    values.delete(key)
  }
  const keep = (key: string, value: Value) => {
    remove(key)
    const size = sizeOf(value)
    if (size > sizeMax) return value
    values.set(key, { value, size })
    total += size
    if (total <= sizeMax) return value
    for (const oldest of values.keys()) {
      remove(oldest)
      if (total <= sizeMax) break
    }
    return value
  }
  return {
    get: (key) => values.get(key)?.value,
    set: (key, value) => void keep(key, value),
    at: (key, make) => keep(key, values.get(key)?.value ?? make()),
  }
}
