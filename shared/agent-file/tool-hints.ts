// What an agent file says of a tool for those who judge its calls: which arguments identify one, whether it changes anything, how it is refused.

import { namesListed } from '../arguments/argument-path.ts'
import { refusalPlaceholders, unknownPlaceholders } from '../arguments/refusal-template.ts'
import type { ToolHints } from '../messages.ts'
import type { ToolContent } from './content.ts'
import type { Path } from './mistake.ts'
import { alternatives, shown } from './mistake.ts'
import { nearestName } from './nearest-name.ts'
import type { Source } from './source.ts'

/** Null: it says nothing, and the declaration is the same as without this file. `schema`: of the arguments, as text. */
export function hintsOf(
  source: Source,
  path: Path,
  { mutates, ignoreFields, loopKey, refusal }: ToolContent,
  schema: string,
): ToolHints | null {
  refuseUnknownFields(source, [...path, 'ignoreFields'], ignoreFields, schema)
  refuseUnknownFields(source, [...path, 'loopKey'], loopKey, schema)
  if (refusal !== undefined) refuseUnknownPlaceholders(source, [...path, 'refusal'], refusal)
  if ([mutates, ignoreFields, loopKey, refusal].every((hint) => hint === undefined)) return null
  return { mutates: mutates ?? null, ignoreFields: written(ignoreFields), loopKey: written(loopKey), refusal: refusal ?? null }
}

function written(paths: (string | undefined)[] = []): string[] {
  return paths.filter((path) => path !== undefined)
}

/** A name that the schema does not have would silently do nothing. Pointers are not followed. */
function refuseUnknownFields(source: Source, path: Path, fields: (string | undefined)[] | undefined, schema: string): void {
  const known = fields === undefined || schema === '' ? undefined : namesListed(JSON.parse(schema))
  for (const [index, field] of fields?.entries() ?? []) {
    if (field === undefined || field.startsWith('/') || known === undefined || known.includes(field)) continue
    const near = nearestName(field, known)
    const advice = near === undefined ? `must be one of its fields, or a JSON pointer` : `did you mean ${near}?`
    source.complain([...path, index], `is ${shown(field)}, which the schema of the tool does not have; ${advice}`)
  }
}

function refuseUnknownPlaceholders(source: Source, path: Path, template: string): void {
  for (const name of unknownPlaceholders(template)) {
    const near = nearestName(name, refusalPlaceholders)
    const known = `there are ${alternatives(
      refusalPlaceholders.map((known) => `{${known}}`),
      'and',
    )}`
    source.complain(path, `has the placeholder {${name}}; ${near === undefined ? known : `did you mean {${near}}?`}`)
  }
}
