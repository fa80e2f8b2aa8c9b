// The texts that the model reads as the result of a call that did not run, or whose end is unknown.

/** `why`: a sentence. */
export function notRun(why: string): string {
  return `This call was not run: ${why}`
}

export const cancelledBefore = notRun('the turn was cancelled before it started.')
export const turnOver = notRun('the time for this turn was over.')
export const stoppedBefore = (why: string): string =>
  notRun(`before it began it was stopped: ${why}.`)
export const deniedBefore = notRun('it was refused when this response first came.')
export const textOnlyResponse = notRun(
  'no tool can be called in this response. Answer the user in plain text, with what you know so far.',
)

export const neverBegan = notRun(
  'the executor could not start the tool in many tries. Go on without it, or tell the user.',
)

export function callsBeyond(callsLeft: number): string {
  const left = callsLeft === 1 ? 'only one tool call' : `only ${callsLeft} tool calls`
  return notRun(`the turn had ${left} left, and this response holds more.`)
}

/** `event`: a sentence. */
export function mayHaveRun(event: string): string {
  return `${event} It may have run, or may still take effect; check before doing it again.`
}

export const noResultInTime = 'No result of this call came back in time.'
export const noResultSeen = 'The agent went on without a result of this call. It may have run.'
export const cancelledAtClient =
  'The turn was cancelled before the client sent the result of this call.'
export const runnerGone = 'What ran this call ended without giving its result.'

/** `event`: a clause. */
export function earlierTry(event: string): string {
  return `An earlier try of this call gave no result, and ${event}.`
}

export function cutNote(bytes: number): string {
  return `\n[cut: this is the beginning of ${bytes} bytes]`
}
