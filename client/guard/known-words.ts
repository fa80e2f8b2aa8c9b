// The hashes of the rounds that this process read last. A front reads the whole history for each
// request, and most of its rounds are those of the request before.
// KNOWN-WORDS-1. The result is that of wordsHash. A round is found by all its calls, character for
//     character.

import { limits } from '../../shared/contract/limits.ts'
import { newest } from '../../shared/lib/newest.ts'
import { type Words, wordsHash } from '../../shared/transcript/round-key.ts'

const hashes = newest<string>(limits.guestWordsKeptMax)

/** As wordsHash. */
export function knownWordsHash(words: Words): string {
  const name = nameOf(words)
  if (name === undefined) return wordsHash(words)
  const known = hashes.get(name)
  if (known !== undefined) return known
  const made = wordsHash(words)
  hashes.set(name, made)
  return made
}

/** Undefined: a round without calls, or one that is too long to be kept. */
function nameOf({ calls }: Words): string | undefined {
  let name = ''
  for (const { id, name: tool, arguments: text } of calls) {
    // The lengths keep two calls apart from one that contains both.
    name += `${id.length} ${tool.length} ${text.length} ${id}${tool}${text}`
    if (name.length > limits.guestWordsCharsMax) return undefined
  }
  return calls.length === 0 ? undefined : name
}
