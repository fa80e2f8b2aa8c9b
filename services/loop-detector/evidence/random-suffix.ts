// Random parts of names: `backup-x7f3k2`, `/tmp/render-089d65`, `/tmp/go-build1613482910`. Models and
// programs make a new one for each try, so two names that differ only in it are one value.
//
// A suffix is random only if letters and digits change places in it often.
// `db12`, `2024q1` and `v2beta1` are names that somebody chose.
// Of temporary names only one directly within a folder for them counts, without
// days, counters and versions. Elsewhere `blob-a1b2` is one object of many.
// Kubernetes makes suffixes of letters without vowels: `api-7d9f8b6c5d-lq2vw`.

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
/** After a hash of the template, or with a digit. */
const podSuffix =
  /(?<=[a-z\d])-(?:[\da-f]{8,10}|[bcdf-hj-np-tv-xz24-9]{8,10})-[bcdf-hj-np-tv-xz24-9]{5}$|-(?=[a-z]{0,4}\d)(?=\d{0,4}[a-z])[bcdf-hj-np-tv-xz24-9]{5}$/
export const randomPart = /-(?=[a-z]{0,39}\d)[a-z\d]{4,40}\b/
/** A word that may have such a suffix. */
export const randomName = /\b[a-z][\w.]{0,40}(?:-[\w.]{1,40}){1,6}/gi
const suffix = /(?<=[-_.])[a-z\d]{4,40}(?=\.\w{1,5}$|$)/i

function isRandom(part: string): boolean {
  if (/^v\d/i.test(part)) return false
  return changesIn(part) >= (hex.test(part) ? changesOfHexMin : changesMin)
}

/** The places at which letters and digits change. */
function changesIn(text: string): number {
  return text.match(/[a-z](?=\d)|\d(?=[a-z])/gi)?.length ?? 0
}

const hex = /^[\da-f]+$/i

const changesMin = 3
const changesOfHexMin = 2

/** A folder for temporary files, as the source of an expression with the flag `i`. */
export const temporaryFolder = String.raw`(?:tmp|temp|shm|folders/\w{1,40}/\w{1,40}/T)[\\/]{1,2}`

/** The temporary name with `mark` for its random part. */
export function withoutTemporaryPart(name: string, mark: string): string {
  return name
    .replace(lastPart, (random) => (isTemporary(random) ? mark : random))
    .replace(number, mark)
}

/** The part after the last separator, without an extension. */
const lastPart = /(?<![a-z\d])[a-z\d]{6,40}(?=\.[a-z]{1,5}$|$)/i
/** Longer than a day (20261101). Go writes such numbers after a name. */
const number = /\d{9,20}(?=\.[a-z]{1,5}$|$)/i

/** Hex that is no counter (`f00012`), or letters and digits that change places often. */
function isTemporary(text: string): boolean {
  if (/^v\d+(?:[a-z]+\d*)?$/i.test(text)) return false
  return hex.test(text) ? /\d[a-f]|[a-f]{2}\d/i.test(text) : changesIn(text) >= changesMin
}
