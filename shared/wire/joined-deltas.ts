// Joins the text deltas of a finished stream before its events are read. Most events of an answer are
// such deltas, its round needs their text as a whole, and each event costs a parse.
//
// Events in a row join if they differ in one JSON string only, the text of a delta.
// No such string has an escape, so the joined one is the text of all of them.
// Every other byte stays. An event of another form is read by itself.

/** Bytes of a text in a JSON string that stand for themselves. */
const plain = String.raw`[^"\\\x00-\x1f]*`

/** Joins these deltas of a stream. `head` and `tail`: patterns of an event around its text. */
export function joinedDeltas({
  head,
  tail,
}: {
  head: string
  tail: string
}): (stream: string) => string {
  // Two or more events with one head, without the tail of the last one.
  const run = new RegExp(
    String.raw`(?<=^|\n\n)(${head})(${plain}(?:${tail}\n\n\1${plain})+)(?=${tail}\n\n)`,
    'g',
  )
  return (stream) => stream.replace(run, joined)
}

function joined(_: string, head: string, rest: string): string {
  const texts = rest.split(`\n\n${head}`)
  const last = texts.pop()
  return `${head}${texts.map((text) => text.slice(0, text.indexOf('"'))).join('')}${last}`
}
