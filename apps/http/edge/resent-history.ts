// The history that a chat client sends again with each message, compared with the log. Pure.
// RESENT-1. The log is the truth. Only the user's texts of a resent history are compared, and
//     nothing of it reaches a model.

/**
 * Whether `sent`, the texts of the user before the new message, contradicts `held`, those of the log;
 * both oldest first. A client may send the newest part only, or nothing. It may have messages that
 * the log does not have: some were refused, or are older than the log. It may not lack a later one,
 * or have another text in its place.
 */
export function isFork(sent: readonly string[], held: readonly string[]): boolean {
  let at = sent.length
  for (const text of held.toReversed()) {
    const before = at
    at -= 1
    while (at >= 0 && sent[at] !== text) at -= 1
    if (at < 0) return before > 0
  }
  return false
}
