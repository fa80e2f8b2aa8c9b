// Random suffixes of names: `backup-x7f3k2`. A model writes a new one for each try, so two names
// that differ only in it are one value.
//
// RANDOM-SUFFIX-1. A suffix is random only if letters and digits change places in it often.
//     `db12`, `2024q1` and `v2beta1` are names that somebody chose.
// RANDOM-SUFFIX-2. Kubernetes makes suffixes of letters without vowels: `api-7d9f8b6c5d-lq2vw`.

/** The name without its random suffix, or without its UUID. */
export function withoutRandom(name: string): string {
  return name
    .replace(uuid, '')
    .replace(podSuffix, '')
    .replace(suffix, (part) => (isRandom(part) ? '' : part))
}

/**
 * The words within these texts that have a random suffix. The error may repeat the file name of a
 * longer path.
 */
export function randomWordsIn(texts: string[], error: string): string[] {
  if (!suffixed.test(error)) return []
  return texts.flatMap((text) =>
    (text.match(words) ?? []).filter((word) => withoutRandom(word) !== word),
  )
}

/** Most errors hold no such word, which saves the search. */
const suffixed = /[-_.][a-z\d]{4}/i
const words = /[\w.-]{6,80}/g
const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/gi
/** Behind a hash of the template, or with a digit. */
const podSuffix =
  /(?<=[a-z\d])-(?:[\da-f]{8,10}|[bcdf-hj-np-tv-xz24-9]{8,10})-[bcdf-hj-np-tv-xz24-9]{5}$|-(?=[a-z]{0,4}\d)(?=\d{0,4}[a-z])[bcdf-hj-np-tv-xz24-9]{5}$/
export const mayNameRandom = /-(?=[a-z]{0,39}\d)[a-z\d]{4,40}\b/
/** A word that may have such a suffix. */
export const randomName = /\b[a-z][\w.]{0,40}(?:-[\w.]{1,40}){1,6}/gi
const suffix = /(?<=[-_.])[a-z\d]{4,40}(?=\.\w{1,5}$|$)/i

function isRandom(part: string): boolean {
  if (/^v\d/i.test(part)) return false
  const changes = part.match(/[a-z](?=\d)|\d(?=[a-z])/gi)?.length ?? 0
  return changes >= (/^[\da-f]+$/i.test(part) ? changesOfHexMin : changesMin)
}

const changesMin = 3
const changesOfHexMin = 2
