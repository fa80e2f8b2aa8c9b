// The reason for refusing a command. A denial is thrown, because it can occur at any depth and
// nothing later can change it. guard.ts makes the verdict.

export type DenialCode =
  | 'write-outside'
  | 'net-into-shell'
  | 'secret'
  /** It runs a script that only exists at run time. */
  | 'unseen-script'
  /** A relevant part is only known at run time. */
  | 'unknowable'
  /** It is not Bash. */
  | 'unreadable'
  /** It has a construct that the guard does not follow. */
  | 'not-plain'
  /** The guard does not know the program, an option of it, or an operand. */
  | 'unlisted'
  /** The command is never accepted. */
  | 'not-allowed'

export class Denial extends Error {
  readonly code: DenialCode
  /** Acceptable alternatives, for the model. */
  readonly advice: string

  /**
   * `what`: a sentence for the model without its full stop. The executor states before it that the
   * call did not run.
   */
  constructor(code: DenialCode, what: string, advice: string) {
    super(what)
    this.name = 'Denial'
    this.code = code
    this.advice = advice
  }
}

const shownMax = 120

/** A part of a command for a message: short, and safe for a terminal and a reader. */
export function shown(text: string): string {
  const marked = text
    .slice(0, shownMax + 1)
    .replaceAll('\uE000', '…')
    .replaceAll('\uE001', '*')
  const visible = JSON.stringify(marked)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll('\u007f', '\\u007f')
  return visible.length > shownMax ? `${visible.slice(0, shownMax)}…` : visible
}

/** A construct that the guard does not follow, with the plain form of it. */
export function notPlain(what: string, advice = 'Write it more simply.'): Denial {
  return new Denial('not-plain', shown(what), advice)
}

/** A program whose effect is not clear because of this part. */
export function unclear(base: string, part: string): Denial {
  return new Denial(
    'unknowable',
    `with "${shown(part)}" it cannot be seen what ${shown(base)} changes or runs`,
    `Run ${shown(base)} without it, or write it out. Where it is a file that is only read, -- before the file names helps.`,
  )
}

/** A script or program that does not stand in the command. */
export function hidden(base: string, part: string): Denial {
  return new Denial(
    'unseen-script',
    `${shown(base)} runs a script of which "${shown(part)}" is only known when it runs`,
    'Write the commands out, or write them to a file and run the file by its name. Pass values as arguments.',
  )
}

/** A program, or a part of its arguments, that is not in the guard's list. */
export function unlisted(name: string, part?: string): Denial {
  if (part !== undefined) {
    const what = `"${shown(part)}" is not among the arguments of ${shown(name)} that this guard knows`
    return new Denial('unlisted', what, 'Do without it, or ask a person to run it.')
  }
  const what = `${shown(name)} is not among the programs that this guard knows`
  const advice = 'Use a usual program, or a script in the project, or ask a person to run it.'
  return new Denial('unlisted', what, advice)
}
