// The output of a process that is up: a server that listens, a watcher without changes, a prompt. The
// process runs on, and no wait brings more.

/** Whether the output ends with such a line. The host's own lines do not count. */
export function isSteady(text: string): boolean {
  return steady.test(text.slice(-tailCharsMax).replace(frame, '').trimEnd())
}

const tailCharsMax = 512
/** Marks of hosts, and the end of an object in JSON. */
const frame = /<[^<>]{1,200}>|["'}\]\s]+$/g
const lastLine = [
  String.raw`\b(?:listening|serving(?: http)?|running|started|available|ready) (?:on|at)\b.{0,80}(?:port|:\d|https?:).{0,80}`,
  'local: {1,4}https?:.{0,80}',
  '(?:press|hit|use) .{1,40} to (?:show|stop|quit|exit|cancel).{0,40}',
  String.raw`(?:watching|waiting) for (?:file )?(?:changes|connections|requests|input)\W{0,4}`,
  String.raw`[([]y(?:es)?(?:/n(?:o)?)?[)\]]?\W{0,4}`,
  String.raw`\b(?:password|passphrase|username|login)\b.{0,60}:`,
  '(?:press|hit) (?:any key|enter|return).{0,40}',
  String.raw`(?:^|\n|")(?:>>>|\(pdb\)|in \[\d+\]:|\w{1,16}[>#$])`,
]
const steady = new RegExp(`(?:${lastLine.join('|')})$`, 'i')
