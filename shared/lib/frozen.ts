// Values that several readers share.

/** The value, with all objects and lists in it frozen. Bytes stay as they are. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}
