// A map that keeps the entries used last (R7).

export type Newest<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  /** The value of the key, made if there is none. */
  at(key: string, make: () => Value): Value
}

export function newest<Value>(sizeMax: number): Newest<Value> {
  const values = new Map<string, Value>()
  const keep = (key: string, value: Value) => {
    values.delete(key)
    values.set(key, value)
    const [oldest] = values.keys()
    if (values.size > sizeMax && oldest !== undefined) values.delete(oldest)
    return value
  }
  return {
    get: (key) => values.get(key),
    set: (key, value) => void keep(key, value),
    at: (key, make) => keep(key, values.get(key) ?? make()),
  }
}
