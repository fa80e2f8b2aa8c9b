/** The lengths of the common beginning and the common end of two lists, which do not overlap. */
export function commonEnds<T>(before: readonly T[], after: readonly T[]): [number, number] {
  const shorter = Math.min(before.length, after.length)
  let begin = 0
  while (begin < shorter && before[begin] === after[begin]) begin += 1
  let end = 0
  while (end < shorter - begin && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return [begin, end]
}
