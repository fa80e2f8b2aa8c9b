// Why a command is refused. It is thrown, because it may be found at any depth of a command and
// nothing that comes after can change it; guard.ts catches it and makes a verdict of it.

/**
 * write-outside: it changes something outside the allowed folders. net-into-shell: it runs what
 * comes from the net. secret: it names a secret. unseen-script: it runs a script that is made while
 * it runs. unknowable: a part that matters is only known when it runs. unreadable: it is no Bash.
 * not-allowed: a command that is never accepted.
 */
export type RefusalCode =
  | 'write-outside'
  | 'net-into-shell'
  | 'secret'
  | 'unseen-script'
  | 'unknowable'
  | 'unreadable'
  | 'not-allowed'

export class Refusal extends Error {
  readonly code: RefusalCode
  /** What would be accepted, for the model. */
  readonly advice: string

  /**
   * `what`: for the model, a sentence without its full stop. That the call did not run says the
   * executor before it.
   */
  constructor(code: RefusalCode, what: string, advice: string) {
    super(what)
    this.name = 'Refusal'
    this.code = code
    this.advice = advice
  }
}

/**
 * A part of a command as a text may show it: short, and with nothing that a terminal or a reader
 * would take for something else.
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

/** What stands for a part that is not known (field.ts), as a reader may see it. */
const marks = new Map([
  ['\uE000', '…'],
  ['\uE001', '*'],
  ['\uE002', '?'],
  ['\uE003', '…'],
  ['\uE004', '<(…)'],
  ['\uE005', '<(…)'],
])
