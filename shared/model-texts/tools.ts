// The texts that the model reads as the result of a tool that failed or did not answer.

const partDone = 'It may have done a part of its work; check before doing it again.'
const noRetry = 'do not retry, continue without this tool or tell the user.'
const setupFault = `This is a fault of the set-up, not of the arguments: ${noRetry}`

export const toolTimedOut = (timeoutMs: number): string =>
  `The tool was stopped because it did not finish within ${timeoutMs} ms. ${partDone}`
export const toolOutOfBounds = (bound: string): string =>
  `The tool was killed because it used more than ${bound}. ${partDone}`
export const toolStopped = (why: string): string => `The tool was stopped while it ran: ${why}.`
export const toolGoesOn = (timeoutMs: number): string =>
  `The tool did not finish within ${timeoutMs} ms, and it does not stop. It may still be running and take effect; check before doing it again.`

/** `why`: a clause. */
export function toolNotStarted(why: string): string {
  return `The tool could not be started: ${why}. ${setupFault}`
}

export const toolStartFailed = 'The tool could not be started.'
export const checkFailed = 'the check of its arguments failed'
export const checkTooSlow = (timeoutMs: number): string =>
  `The check of the tool's arguments did not end within ${timeoutMs} ms.`

/** `event`: a sentence. */
export function toolNotReady(event: string): string {
  return `${event} The call was not run.`
}

export const noContext =
  'this tool needs the context of the request, and there is none here any more.'
export const unfitContext = 'the context of the request is not the one that this tool needs.'
export const foreignContext = 'the context of the request cannot be given to this tool.'
export const bytesReplaced = '\n[some bytes were not UTF-8 and are shown as \uFFFD]'

// ── Commands and modules ──

export const commandFailed = (how: string): string => `The tool failed with ${how}.`
export const commandKilled = (how: string): string => `The tool was killed by ${how}.`
export const noOutput = ' It wrote nothing.'
export const errorOutput = (text: string): string => `\nIts error output:\n${text}`
export const errorOutputCut = '[cut: this is the end]\n'
export const output = (text: string): string => `\nIts output:\n${text}`

export const functionFailed = (message: string): string =>
  `The tool failed.\nIts error:\n${message}`
export const functionCrashed = (message: string): string =>
  `The tool crashed. ${partDone}\nIts error:\n${message}`
export const resultWithoutJson = (message: string): string =>
  `The tool ran, but its result cannot be written as JSON, so nobody can read it. Do not retry.\nThe error:\n${message}`
export const processEnded = (how: string): string =>
  `The tool's process ended (${how}) before the tool returned a result. ${partDone}`
export const moduleTooSlow = (timeoutMs: number): string =>
  `The tool's module was not loaded within ${timeoutMs} ms.`

// ── HTTP ──

const requestSent =
  'The request was sent, so it may have taken effect, or may still do; check before doing it again.'

/** `status`: the number, and its meaning in parentheses. */
export const httpStatus = (status: string): string => `The tool answered HTTP ${status}.`
export const emptyBody = ' Its answer was empty.'
export const body = (text: string): string => `\nIts answer:\n${text}`
export const bodyUnread = (bytes: number): string =>
  `\n[the rest of it was not read: more than ${bytes} bytes]`
export const httpRedirect = (status: number): string =>
  `The tool's server redirected (HTTP ${status}), and redirects are not followed. ${requestSent} The set-up is at fault: ${noRetry}`
export const notHttp = (code: string): string =>
  `The tool's server answered with what is not HTTP (${code}). ${requestSent}`

/** `when`: a clause and a code. */
export const connectionBroke = (when: string): string =>
  `The connection to the tool broke ${when}. ${requestSent}`
export const answerTooSlow = (timeoutMs: number): string =>
  `The tool did not finish its answer within ${timeoutMs} ms. ${requestSent}`
export const notReached = (timeoutMs: number): string =>
  `The tool could not be reached within ${timeoutMs} ms.`

// ── MCP ──

export const toolFailed = 'The tool failed.'
export const credentialsRefused = (server: string): string =>
  `The server ${server} refuses the credentials of this agent. The call did not run.`
export const serverRefuses = (server: string, why: string): string =>
  `the server ${server} refuses it: ${why}`
export const serverError = (server: string, message: string): string =>
  `The server ${server} answers with an error: ${message}`
export const inputDeclined = (server: string, why: string): string =>
  `The server ${server} asks for input that this agent declines (${why}). The call did not complete.`
export const inputWanted = (server: string): string =>
  `The server ${server} asks a person for input, which this agent cannot give. The call did not complete.`
export const serverBroke = (server: string): string =>
  `The connection to the server ${server} broke during the call.`
export const concealedRefused = (kinds: readonly string[]): string =>
  `the answer has concealed text (${kinds.join(', ')}), which is refused`
export const serverTooSlow = (server: string): string =>
  `The server ${server} was not reached in time.`
