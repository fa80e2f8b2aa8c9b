// The texts that the models of guests read: agents whose calls a host, a framework or a client runs.

/** `why`: one or more sentences. */
function notRun(why: string): string {
  return `Not run: ${why}`
}

export const undecided = notRun(
  'no person or guard decided on this call in time. Do not repeat it now; go on without it, or ask the user.',
)
export const declinedInHost = notRun(
  'the user declined it. Do not repeat it; go on without it, or ask the user.',
)
export const cannotJudge = notRun(
  'Weir cannot judge calls now. Do not repeat the call. Tell the user that Weir must be checked.',
)
export const notInTime = notRun('Weir could not judge this call in time. Do not repeat it now.')
export const notCounted = notRun
export const hostIsGone = notRun('the host no longer waits for this call.')
export const roundIsOver = notRun('the round of this call is over, and no verdict allowed it.')
export const repeatedInResponse = notRun(
  'this response has this call twice, with the same id and arguments. Only one may run.',
)
export const givenBefore = notRun(
  'an equal call with the same id was allowed before, or the round of this call is over. Make the call again under a new id if it is still needed.',
)
export const siblingRefused = notRun(
  'another call of this response was refused. Make this call again if you still need it.',
)
export const beyondLimits = (callsMax: number): string =>
  notRun(
    `this response is above the limits of Weir, such as ${callsMax} calls in one response. Make fewer calls at once.`,
  )
export const tooManyCalls = (max: number): string =>
  notRun(`${max} calls of this conversation wait or run already. Wait for their results.`)
export const questionIsOver = notRun(
  'the question about this call is over. Make the call again if it is still needed.',
)
/** The host changed the call after its judgement. */
export const otherCall = notRun('Weir has judged another call under this id.')
export const otherArguments = notRun('a person was asked about other arguments than these.')
export const waitedAs = (approval: string): string => `It waited for a person as ${approval}.`

export function endedTurn(reason: string): string {
  return `Weir has ended this turn. Call no tool, because none will run. Answer the user in plain text. The reason: ${reason}`
}

export const deniedAnswers = (answers: number): string =>
  `Weir has refused ${answers === 1 ? 'the calls of an answer' : `the calls of ${answers} answers in a row`}`
export const noAnswerInTime = 'Weir did not answer in time'
export const weirHasFailed = 'Weir has failed'
/** The id of a command that goes on. */
export const inBackground = (id: string): string => `Command running in background with ID: ${id}`

// ── Frameworks ──

export const noVerdict = 'Weir has no verdict on this call, so it did not run.'
export const judgingFailed = (why: string): string =>
  `Weir could not judge this call, so it did not run: ${why}`
export const answerUnseen = 'Weir has not seen the answer with this call, so it did not run.'
export const answerMissing = 'Weir finds no answer with this call. It did not run.'
export const unreadableArguments = 'The arguments of this call are no valid JSON. Send it again.'
/** The text of the AI SDK for a call that its user denied. */
export const deniedInAiSdk = 'Tool execution denied.'
