// A URL of an agent file. Its path, query and user may be secrets, so messages show only its
// beginning, with unexpanded variables.

import { type Path, shown } from '../../settings/mistake.ts'
import { expanded, type Source } from './source.ts'

/**
 * The URL for requests. Undefined after a mistake. `secrets` gets the values of its variables, but
 * not those that are its host or its beginning: errors name these.
 */
export function urlOf(
  source: Source,
  path: Path,
  text: string,
  secrets: string[] = [],
): string | undefined {
  const values: string[] = []
  const url = expanded(source, path, text, values)?.trim()
  if (url === undefined) return undefined
  const parsed = URL.parse(url)
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    const start = text.includes('@')
      ? 'is'
      : `is ${shown(/^[^/?#]*\/{0,2}[^/?#]*/.exec(text)?.[0])},`
    source.refuse(path, `${start} not an http or https URL; must be one, as in https://host/path`)
    return undefined
  }
  secrets.push(
    ...values.filter((value) => !parsed.origin.includes(value) && !value.startsWith('http')),
  )
  if (parsed.username === '' && parsed.password === '') return url
  source.refuse(path, 'contains a user or a password; must contain none, use a header for them')
  return undefined
}
