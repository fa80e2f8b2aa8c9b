// References inside a JSON Schema.

import { isObject } from '../../lib/json/json-object.ts'

/** The target of a reference like "#/$defs/name" in this document. */
export function pointedTo(ref: string, root: Record<string, unknown>): unknown {
  if (!ref.startsWith('#/')) return undefined
  let target: unknown = root
  for (const step of ref.slice(2).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    target = isObject(target) && Object.hasOwn(target, name) ? target[name] : undefined
  }
  return target
}
