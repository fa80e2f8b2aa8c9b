// The rules of `redact` in an agent file, for values that readers of the log must not see.

import type { RedactRule } from '../../../contract/messages.ts'
import { patternFault, redactPathIn } from '../../../contract/redaction/redact-rule.ts'
import { valueClasses } from '../../../contract/redaction/value-classes.ts'
import { alternatives, type Path, shown } from '../../../settings/mistake.ts'
import { nearestName } from '../../../settings/nearest-name.ts'
import type { AgentContent, RedactContent } from '../content.ts'
import type { Source } from '../source.ts'

const classNames = [...valueClasses.keys()]

export function redactOf(source: Source, { redact = [] }: AgentContent): RedactRule[] {
  const named = new Set<string>()
  return redact.flatMap((given, at) => {
    const rule = given === undefined ? undefined : ruleOf(source, ['redact', at], given)
    if (rule === undefined) return []
    if (rule.pattern !== null && named.has(rule.name))
      source.refuse(
        ['redact', at, 'name'],
        `is ${shown(rule.name)}, the name of another rule; give it its own`,
      )
    named.add(rule.name)
    return [rule]
  })
}

function ruleOf(source: Source, path: Path, given: RedactContent): RedactRule | undefined {
  if (typeof given === 'string') return namedRule(source, path, given)
  const { name, pattern } = given
  if (name === undefined || pattern === undefined) return undefined // the schema has refused it
  if (valueClasses.has(name))
    source.refuse([...path, 'name'], `is ${shown(name)}, a class of values; give it another name`)
  const fault = patternFault(pattern)
  if (fault !== undefined) source.refuse([...path, 'pattern'], fault)
  return { name, pattern, path: null }
}

function namedRule(source: Source, path: Path, given: string): RedactRule | undefined {
  if (valueClasses.has(given)) return { name: given, pattern: null, path: null }
  const place = redactPathIn(given)
  if (place !== undefined) return { name: nameOf(place.steps), pattern: null, path: given }
  const near = nearestName(given, classNames)
  source.refuse(
    path,
    near === undefined
      ? `is ${shown(given)}; must be ${alternatives(classNames)}, a path such as arguments.password, or a mapping with name and pattern`
      : `is ${shown(given)}; did you mean ${near}?`,
  )
  return undefined
}

/** The last step that names something. */
function nameOf(steps: string[]): string {
  const step = steps.findLast((one) => one !== '*') ?? 'value'
  const name = step
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
  return name === '' || name === '-' ? 'value' : name
}
