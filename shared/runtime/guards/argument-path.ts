// A path into a call's arguments: the name of a member, or a JSON Pointer (RFC 6901) such as
// /payment/amount.

import type { JsonObject, JsonValue } from '../../contract/guard.ts'

/** Undefined: no value there. Inherited members do not count. */
export function valueAt(args: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = args
  for (const step of path.startsWith('/') ? path.slice(1).split('/').map(unescaped) : [path]) {
    if (Array.isArray(value))
      value = /^(0|[1-9]\d{0,8})$/.test(step) ? value[Number(step)] : undefined
    else if (typeof value === 'object' && value !== null && Object.hasOwn(value, step))
      value = (value as JsonObject)[step]
    else return undefined
  }
  return value
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
