// Values that another process or the log can hold as JSON, without losing a part of them.

/** The value as JSON, if that is all of it. Undefined: it holds a function or another live value. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return isPlain(value, 0) ? JSON.stringify(value) : undefined
  } catch {
    return undefined // a circle
  }
}

const depthMax = 100

function isPlain(value: unknown, depth: number): boolean {
  if (value === undefined || value === null || depth > depthMax) return depth <= depthMax
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((item) => isPlain(item, depth + 1))
}
