// Names of tools and fields in a text for the model, which wrote many of them itself. They are cut,
// and invisible characters are escaped: a name cannot look like another one, or like Weir's words.

import { controls, formats } from '../../lib/text/invisible.ts'

export const invisible = new RegExp(`[${controls}${formats}]`, 'u')
export const everyInvisible = new RegExp(invisible.source, 'gu')
const shownCharactersMax = 100
const listedMax = 5

/** Escaped as in JSON, and invisible characters too. */
export function shownName(name: string): string {
  const cut = name.length > shownCharactersMax ? `${name.slice(0, shownCharactersMax)}…` : name
  return visible(JSON.stringify(cut).slice(1, -1))
}

/** The text on one line, without invisible characters. */
export function visible(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(everyInvisible, (found) => found.split('').map(escaped).join(''))
}

export function quoted(name: string): string {
  return `'${shownName(name)}'`
}

/**
 * The first few names and the number of the others. `last`: the word before the last one. Default:
 * a comma.
 */
export function listed(names: readonly string[], last?: 'and'): string {
  const shown =
    names.length > listedMax
      ? [...names.slice(0, listedMax), `${names.length - listedMax} more`]
      : [...names]
  if (last === undefined || shown.length < 2) return shown.join(', ')
  return `${shown.slice(0, -1).join(', ')} ${last} ${shown.at(-1)}`
}
