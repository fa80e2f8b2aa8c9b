// References inside a JSON Schema.

import { isObject } from '../../lib/json/json-object.ts'
import { decodedPart } from '../../lib/text/decoded-part.ts'

/**
 * The target of a reference in this document: "#", a pointer like "#/$defs/name", or the name of a
 * definition ($anchor, or $id in draft-07). Undefined: it is none of them.
 */
export function pointedTo(ref: string, root: Record<string, unknown>): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return ref.startsWith('#') ? namedBy(ref, root) : undefined
  let target: unknown = root
  for (const step of ref.slice(2).split('/')) {
    const name = decodedPart(step).replaceAll('~1', '/').replaceAll('~0', '~')
    target = isObject(target) && Object.hasOwn(target, name) ? target[name] : undefined
  }
  return target
}

function namedBy(ref: string, { $defs, definitions }: Record<string, unknown>): unknown {
  return [$defs, definitions]
    .flatMap((list) => (isObject(list) ? Object.values(list) : []))
    .find((part) => isObject(part) && (`#${part.$anchor}` === ref || part.$id === ref))
}
