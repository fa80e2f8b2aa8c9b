// A URL of an agent file. Its path, its query and its user may be secrets, so only its beginning is
// ever shown, as it is written.

import { type Path, shown } from '../../settings/mistake.ts'
import { expanded, type Source } from './source.ts'

/** The URL as it is to be asked; undefined after a complaint. */
export function urlOf(source: Source, path: Path, text: string): string | undefined {
  const url = expanded(source, path, text)?.trim()
  if (url === undefined) return undefined
  const parsed = URL.parse(url)
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    const what = text.includes('@')
      ? 'is'
      : `is ${shown(/^[^/?#]*\/{0,2}[^/?#]*/.exec(text)?.[0])},`
    source.complain(path, `${what} no http or https URL; must be one, as in https://host/path`)
    return undefined
  }
  if (parsed.username === '' && parsed.password === '') return url
  source.complain(
    path,
    'names a user or a password; must name none, a header is the place for them',
  )
  return undefined
}
