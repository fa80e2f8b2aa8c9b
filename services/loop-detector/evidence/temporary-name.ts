// Random parts of temporary names: `/tmp/render-089d65`, `/tmp/go-build1613482910`. Programs make a
// new one for each run, so texts that differ only in it are equal.
//
// TEMPORARY-NAME-1. Only a name directly within a folder for temporary files counts. Elsewhere
//     `blob-a1b2` is one object of many.
// TEMPORARY-NAME-2. Chosen names stay: words, counters, days, quarters and versions.

/** A folder for temporary files, as the source of an expression with the flag `i`. */
export const temporaryFolder = String.raw`(?:tmp|temp|shm|folders/\w{1,40}/\w{1,40}/T)[\\/]{1,2}`

/** The name with `mark` for its random part. */
export function withoutTemporaryPart(name: string, mark: string): string {
  return name
    .replace(lastPart, (random) => (isRandom(random) ? mark : random))
    .replace(number, mark)
}

/** The part behind the last separator, without an extension. */
const lastPart = /(?<![a-z\d])[a-z\d]{6,40}(?=\.[a-z]{1,5}$|$)/i
/** Longer than a day (20261101). Go writes such numbers behind a name. */
const number = /\d{9,20}(?=\.[a-z]{1,5}$|$)/i

/**
 * Hex that is no counter (`f00012`), or letters and digits that change places often.
 */
function isRandom(text: string): boolean {
  if (version.test(text)) return false
  if (/^[\da-f]+$/i.test(text)) return /\d[a-f]|[a-f]{2}\d/i.test(text)
  return (text.match(/[a-z](?=\d)|\d(?=[a-z])/gi)?.length ?? 0) >= changesMin
}

const version = /^v\d+(?:[a-z]+\d*)?$/i
const changesMin = 3
