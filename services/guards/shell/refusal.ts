// The reason for refusing a command. It is thrown, because it can occur at any depth and nothing
// later can change it. guard.ts turns it into a verdict.

/**
 * - write-outside: it changes something outside the allowed folders.
 * - net-into-shell: it runs data from the net.
 * - secret: it names a secret.
 * - unseen-script: it runs a script that only exists at run time.
 * - unknowable: a relevant part is only known at run time.
 * - unreadable: it is not Bash.
 * - not-plain: it has a construct that the guard does not follow.
 * - not-allowed: the command is never accepted.
 */
export type RefusalCode =
  | 'write-outside'
  | 'net-into-shell'
  | 'secret'
  | 'unseen-script'
  | 'unknowable'
  | 'unreadable'
  | 'not-plain'
  | 'not-allowed'

export class Refusal extends Error {
  readonly code: RefusalCode
  /** Acceptable alternatives, for the model. */
  readonly advice: string

  /**
   * `what`: a sentence for the model without its full stop. The executor states before it that the
   * call did not run.
   */
  constructor(code: RefusalCode, what: string, advice: string) {
    super(what)
    this.name = 'Refusal'
    this.code = code
    this.advice = advice
  }
}

/**
 * A part of a command for a message: short, and without characters that mislead a terminal or a
 * reader.
 */
export function shown(text: string): string {
  const marked = [...text.slice(0, shownMax + 1)]
    .map((character) => marks.get(character) ?? character)
    .join('')
  const visible = JSON.stringify(marked)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll('\u007f', '\\u007f')
  return visible.length > shownMax ? `${visible.slice(0, shownMax)}…` : visible
}

const shownMax = 120

/** Readable marks for the unknown parts of a field (field.ts). */
const marks = new Map([
  ['\uE000', '…'],
  ['\uE001', '*'],
  ['\uE002', '?'],
  ['\uE003', '<(…)'],
])

/** A construct that the guard does not follow, with the plain form of it. */
export function notPlain(what: string, advice = 'Write it more simply.'): Refusal {
  return new Refusal('not-plain', shown(what), advice)
}

/** A program whose changes are not clear because of this part. */
export function unclear(base: string, part: string): Refusal {
  return new Refusal(
    'unknowable',
    `with "${shown(part)}" it cannot be seen which files ${shown(base)} changes`,
    `Run ${shown(base)} without it, or write it out. Where it is a file that is only read, -- before the file names helps.`,
  )
}
