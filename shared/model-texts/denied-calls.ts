// The texts that the model reads for a call that a check, a guard, a stop or a person refused.
// This folder has all texts that a model reads from Weir, which tests hold word by word. Not here:
// the decision to send a text, and texts for people.

/** `why`: a sentence. */
export function deniedCall(why: string): string {
  return `Tool call rejected before execution: ${why}`
}

/** The same call would be denied again. `why`: a sentence. */
export function deniedForGood(why: string): string {
  return `${deniedCall(why)} Do not retry it; continue without this tool, or tell the user.`
}

/** The frame of incident I1. `why`: a sentence. `what` and `verb`: the unknown thing and its use. */
export function wrongArguments(
  why: string,
  sent: string,
  { what, verb }: { what: string; verb: string } = { what: 'values', verb: 'use' },
): string[] {
  return [
    deniedCall(why),
    `You sent: ${sent}`,
    `Do not retry with the same arguments. If you do not know what ${what}`,
    `to ${verb}, respond in text and ask the user for clarification.`,
  ]
}

export const alsoWrong = (mistakes: string): string => `Also wrong: ${mistakes}.`
export const requiredFields = (names: string): string => `Required fields: ${names}.`

/** `why`: a sentence. */
export function deniedByGuard(why: string): string {
  return `Tool call vetoed before execution: ${why}`
}

/** The reason of a call that a guard denied. */
export function reasonOfDenial(guard: string, code: string): string {
  return `vetoed by guard ${guard}: ${code}`
}

export const notOffered = 'this tool was not offered.'
export const withoutOnce =
  'this tool must not run twice, and the guard "once" that sees to it is not in force.'
export const notWhole = 'its arguments did not arrive whole.'
export const noToolDeclared = 'the executor has no tool with this declaration.'
export const noClientToolDeclared = 'the executor has no tool of a client with this declaration.'

export const programChanged = deniedByGuard(
  'the program of this tool changed after the call was shown for approval, so the approval does not hold for it. Call the tool again if you still need it: the call is then shown with the new program.',
)

/** `why`: a clause. */
const withoutGuard = (why: string): string =>
  `${why}, and without its verdict this call may not run.`

export const silentGuard = (name: string): string =>
  withoutGuard(`the guard "${name}" did not answer in time`)
export const unusableGuard = (name: string): string =>
  withoutGuard(`the guard "${name}" gave an answer that cannot be used`)
export const absentGuard = (name: string): string =>
  `the guard "${name}" is in force and did not get this call.`
export const guardsUnreadable =
  'the registered guards and stops cannot be read, and without them this call may not run.'
export const noReasonGiven = 'it gives no reason.'
export const failedGuard =
  'this guard failed, and without its verdict the call may not run. Do not repeat it; continue without it, or tell the user.'
export const guardSays = (name: string): string => `the guard "${name}" says: `

// ── Approvals ──

export const rulesUnreadable =
  "the rules that say which calls need a person's approval cannot be read, so this call may not run. Go on without it, or tell the user."

export function personDenied(tool: string, reason: string): string {
  const why = reason === '' ? 'No reason was given.' : `The reason given: "${reason}".`
  return `a person rejected this call of ${tool}. ${why} Do not send the same call again; go on without it, or ask the user.`
}

export const nobodyDecided = (tool: string): string =>
  `${tool} needs a person's approval for these arguments, and nobody gave it in time. Go on without it, or tell the user that an approval is needed.`
export const decidedOtherwise = 'it was decided otherwise before a person could.'

/** No rule lets a person decide. `isAsked`: the guard asks for a person itself. */
export function noApprovalRule(why: string, isAsked: boolean): string {
  const nobody =
    'No approval rule lets a person decide it here. Go on without it, or tell the user.'
  return `${isAsked ? 'it' : 'the call'} needs a person's approval: ${why} ${nobody}`
}
