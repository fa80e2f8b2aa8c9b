// Runs that a call starts again and again: a pipeline, a build, a deployment. Each has another id, which
// the later calls of its lap send.
//
// An id counts after the name of such a thing in a result, or in an address.
// Linear in the beginning of the text.

const charsMax = 4_096
const idsMax = 16
const mark = '<run>'

const kinds = 'runs?|jobs?|builds?|pipelines?|workflows?|deployments?|executions?|tasks?'
const runId = new RegExp(
  String.raw`(?:\/(?:${kinds})\/|\b(?:${kinds}|\w{0,20}id|number)(?:[ _-]?(?:id|iid|number|no))?["']{0,2}\s{0,2}[:=#]{0,2}\s{0,2}["'#]{0,2})(\d{2,20}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\b`,
  'gi',
)
const failed =
  /(?<!\b0 )\b(?:failed|failures?|failing|errored|crashed|exit (?:code|status) [1-9]\d?)\b(?!["']? ?[:=] ?(?:0\b|false|null|\[\]|""))/i

/** The ids of runs in a result. */
export function runIdsIn(text: string): string[] {
  const found = new Set<string>()
  for (const [, id = ''] of text.slice(0, charsMax).matchAll(runId)) {
    found.add(id)
    if (found.size >= idsMax) break
  }
  return [...found]
}

/** The text without these ids, and the oldest round of one in it. */
export function withoutRunIds(
  text: string,
  ids: ReadonlyMap<string, number>,
): { text: string; oldest: number } {
  let plain = text.slice(0, charsMax)
  let oldest = Number.POSITIVE_INFINITY
  for (const [id, round] of ids) {
    if (!plain.includes(id)) continue
    plain = plain.replaceAll(id, mark)
    oldest = Math.min(oldest, round)
  }
  return { text: plain + text.slice(charsMax), oldest }
}

/** Whether a result states that something failed. */
export function tellsFailure(text: string): boolean {
  return failed.test(text.slice(0, charsMax))
}
