// Joins the text deltas of a finished stream before its events are read. Most events of an answer are
// such deltas, its round needs their text as a whole, and each event costs a parse.
//
// JOINED-DELTAS-1. Events in a row join if they differ in one JSON string only, the text of a delta.
//     No such string has an escape, so the joined one is the text of all of them.
// JOINED-DELTAS-2. Every other byte stays. A form that is not known here is read event by event.

/** Bytes of a text in a JSON string that stand for themselves. */
const plain = String.raw`[^"\\\x00-\x1f]*`

/** Events up to their text, and from its end on. */
const forms: readonly { head: string; tail: string }[] = [
  {
    head: String.raw`(?:event: content_block_delta\n)?data: \{"type":"content_block_delta","index":\d{1,6},"delta":\{"type":"text_delta","text":"`,
    tail: String.raw`"\} {0,99}\} {0,99}`, // Anthropic fills events with blanks
  },
  {
    head: String.raw`data: \{(?:"(?:id|object|created|model|system_fingerprint|service_tier)":(?:"[^"\\\n]{0,200}"|\d{1,20}|null),){0,9}"choices":\[\{"index":0,"delta":\{(?:"role":"assistant",)?"content":"`,
    tail: String.raw`"\}(?:,"(?:logprobs|finish_reason)":null){0,2}\}\](?:,"usage":null)?\}`,
  },
]

/** Two or more events with one head, without the tail of the last one. */
const runs = forms.map(
  ({ head, tail }) =>
    new RegExp(
      String.raw`(?<=^|\n\n)(${head})(${plain}(?:${tail}\n\n\1${plain})+)(?=${tail}\n\n)`,
      'g',
    ),
)

/** The same stream with fewer events. */
export function withJoinedDeltas(stream: string): string {
  return runs.reduce((text, run) => text.replace(run, joined), stream)
}

function joined(_: string, head: string, rest: string): string {
  const texts = rest.split(`\n\n${head}`)
  const last = texts.pop()
  return `${head}${texts.map((text) => text.slice(0, text.indexOf('"'))).join('')}${last}`
}
