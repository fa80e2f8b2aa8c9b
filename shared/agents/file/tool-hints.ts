// The hints of a tool for the stages and guards that judge its calls: the arguments that identify a
// call, effects, and the text of a denial.

import {
  denialPlaceholders,
  unknownPlaceholders,
} from '../../contract/arguments/denial-template.ts'
import { limits } from '../../contract/limits.ts'
import type { OnceRule, ToolHints } from '../../contract/messages.ts'
import { durationOf } from '../../lib/duration.ts'
import { alternatives, type Path, shown } from '../../settings/mistake.ts'
import { nearestName } from '../../settings/nearest-name.ts'
import type { HintsContent, LabelsContent } from './content.ts'
import { type PathFault, pathFault } from './path-fault.ts'
import type { Source } from './source.ts'

/**
 * Null: the file has no hints, and the declaration stays as it is. `schema`: of the arguments, as
 * text.
 */
export function hintsOf(
  source: Source,
  path: Path,
  { mutates, ignoreFields, loopKey, once, denial, reads, sends, client }: HintsContent,
  schema: string,
): ToolHints | null {
  refuseUnknownFields(source, [...path, 'ignoreFields'], ignoreFields, schema)
  refuseUnknownFields(source, [...path, 'loopKey'], loopKey, schema)
  const rule = onceOf(source, [...path, 'once'], once, schema)
  if (rule?.within === 'tenant' && client)
    source.refuse(
      [...path, 'once', 'within'],
      'is "tenant", and a client runs the tool, so Weir cannot free the values of a failed call; remove within, or let Weir run the tool',
    )
  if (denial !== undefined) refuseUnknownPlaceholders(source, [...path, 'denial'], denial)
  const hints = [mutates, ignoreFields, loopKey, once, denial, reads, sends, client]
  if (hints.every((hint) => hint === undefined)) return null
  return {
    mutates: mutates ?? null,
    ignoreFields: writtenPaths(ignoreFields),
    loopKey: writtenPaths(loopKey),
    denial: denial ?? null,
    labels: labelsOf({ reads, sends }),
    client: client ?? false,
    once: rule,
  }
}

const day = 24 * 60 * 60_000

/** Null: there is no rule. The longest time is that for which the guard once remembers. */
function onceOf(
  source: Source,
  path: Path,
  once: HintsContent['once'],
  schema: string,
): OnceRule | null {
  if (once === undefined) return null
  const { by, for: written, within = 'conversation' } = once === true ? {} : once
  refuseUnknownFields(source, [...path, 'by'], by, schema)
  const forMs = written === undefined ? limits.onceMsMax : durationOf(written)
  if (forMs === undefined || forMs < 1 || forMs > limits.onceMsMax)
    source.refuse(
      [...path, 'for'],
      `is ${shown(written)}; must be a duration of at most ${limits.onceMsMax / day} days, such as 24h`,
    )
  return { by: writtenPaths(by), forMs: forMs ?? 0, within }
}

export function labelsOf({ reads = [], sends }: LabelsContent): string[] {
  return [
    ...writtenPaths([reads].flat()).map((what) => `reads:${what}`),
    ...(sends === undefined ? [] : [`sends:${sends}`]),
  ]
}

function writtenPaths(paths: (string | undefined)[] = []): string[] {
  return paths.filter((path) => path !== undefined)
}

/** A path that does not exist in the schema would have no effect, without any error. */
function refuseUnknownFields(
  source: Source,
  path: Path,
  fields: (string | undefined)[] | undefined,
  schema: string,
): void {
  const known: Record<string, unknown> = schema === '' ? {} : JSON.parse(schema)
  for (const [index, field] of fields?.entries() ?? []) {
    const fault = field === undefined ? undefined : pathFault(field, known)
    if (field === undefined || fault === undefined) continue
    const text =
      fault.kind === 'malformed'
        ? 'which is not a JSON pointer; in a name write ~0 for ~ and ~1 for /'
        : `which the schema of the tool does not have; ${adviceFor(field, fault)}`
    source.refuse([...path, index], `is ${shown(field)}, ${text}`)
  }
}

/** In the same form as the path: a plain name, or a pointer. */
function adviceFor(
  field: string,
  { at, step, known, isList }: Extract<PathFault, { kind: 'unknown' }>,
): string {
  const isPointer = field.startsWith('/')
  const near = nearestName(step, known)
  if (near !== undefined) return `did you mean ${isPointer ? pointerTo(at, near) : near}?`
  if (!isPointer) return 'must be one of its fields, or a JSON pointer'
  if (isList) return `${at} is a list, whose items are ${at}/*`
  if (known.length === 0) return `${at} has no fields`
  const names = known.slice(0, namesShownMax).map((name) => pointerTo(at, name))
  return `there ${names.length === 1 ? 'is' : 'are'} ${alternatives(names, 'and')}`
}

const namesShownMax = 12

function pointerTo(at: string, name: string): string {
  return `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function refuseUnknownPlaceholders(source: Source, path: Path, template: string): void {
  for (const name of unknownPlaceholders(template)) {
    const near = nearestName(name, denialPlaceholders)
    const known = `there are ${alternatives(
      denialPlaceholders.map((known) => `{${known}}`),
      'and',
    )}`
    source.refuse(
      path,
      `has the placeholder {${name}}; ${near === undefined ? known : `did you mean {${near}}?`}`,
    )
  }
}
