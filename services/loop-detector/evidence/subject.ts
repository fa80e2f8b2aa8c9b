// The subject of a call: the files, hosts, addresses and ids in its arguments. Calls about one
// subject with one answer are rewordings. Calls about different subjects are a batch, even with
// equal answers: eight hosts may all be healthy.

import { cleanPath, namesPath } from '../../../shared/contract/identity/arguments.ts'
import { limits } from '../../../shared/contract/limits.ts'

/**
 * The sorted subjects as one text, empty if the arguments name none. `freeText`: as in Operation
 * (effect.ts).
 */
export function subjectOf(value: unknown, freeText: boolean): string {
  const named = new Set<string>()
  collect(named, '', value, freeText, 0)
  return [...named].sort().join('\n')
}

function collect(
  named: Set<string>,
  key: string,
  value: unknown,
  freeText: boolean,
  depth: number,
): void {
  if (named.size >= limits.loopEchoesMax || depth > limits.argumentDepthMax) return
  if (typeof value === 'string') {
    for (const name of freeText && !namesPath(key)
      ? namesIn(value, isCommand.test(key))
      : [plainName(value)])
      if (name !== '') named.add(name)
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    // Another page or limit is the same subject. Another id is another subject.
    if (namesOne.test(key)) named.add(String(value))
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value))
      collect(named, Array.isArray(value) ? key : name, member, freeText, depth + 1)
  }
}

/**
 * A member whose number is an identity, not a count or a page: `id`, `user_id`, `orderId`, `pid`,
 * `port`.
 */
const namesOne = /(?:^|[_-])(?:id|key|code|port)$|[a-z](?:Id|Key|Code)$|(?:^|[_-])[a-z]{1,3}id$/

const isCommand = /^(?:command|cmd|script|code)$/
const textCharsMax = 4096

/**
 * A path, a host, an e-mail address, a name with an underscore, a numeric address, or a word that
 * ends in a number. No option, no bare number.
 */
const namesThing =
  /^(?!-)(?=.*[a-z])(?:.*[\w-][./@:_][\w~-]|[/~].|.*[a-z_-]\d+$)|^\d+(?:\.\d+){3}|^[\da-f]*:[\da-f:]+$/i

/**
 * The words of a text that name a subject: paths, hosts, addresses, e-mails, ids. In a command,
 * without programs and options.
 */
function namesIn(text: string, isCommand: boolean): string[] {
  return text
    .slice(0, textCharsMax)
    .split(/&&|\|\||[;|\n]/)
    .flatMap((part) =>
      part
        .trim()
        .split(/[\s'"()=,<>]+/)
        .slice(isCommand ? 1 : 0),
    )
    .filter((word) => namesThing.test(word))
    .map(plainName)
}

/** Removes scheme, query and fragment from an address. Cleans a path. */
function plainName(text: string): string {
  const name = text.trim().slice(0, limits.loopEchoCharsMax).toLowerCase()
  if (/^[a-z][a-z0-9+.-]*:\/\//.test(name))
    return name.replace(/^[a-z0-9+.-]+:\/\/(?:www\.)?|[?#].*$/g, '').replace(/\/+$/, '')
  const path = cleanPath(name)
  return path === '.' ? '' : path
}
