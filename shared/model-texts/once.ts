// The texts that the model reads for a call of a `once` tool that an earlier call forbids.

/** `result`: the beginning of the earlier result, perhaps empty. */
export function onceDone(tool: string, result: string): string {
  const shown = result === '' ? 'It gave no text.' : `Its result was:\n${result}`
  return `an equal call of ${tool} has run already, and the tool must not run twice for the same values. Use the earlier result, and do not send the call again. ${shown}`
}

export const onceMayHaveRun = (tool: string): string =>
  `an equal call of ${tool} may have run, and nobody knows its end. The tool must not run twice for the same values. Check whether the call took effect, or tell the user; do not send the call again.`

export const onceOpen = (tool: string): string =>
  `an equal call of ${tool} comes first and has no result yet. The tool must not run twice for the same values. Wait for that result, and do not send the call again.`

export const onceFull = (calls: number): string =>
  `this conversation has ${calls} calls of tools that must not run twice, and no further one can be remembered. Go on without it, or tell the user.`

/** For a call of another conversation of the tenant, by its status. `at`: of the earlier call. Its result stays there. */
export const onceElsewhere = {
  open: (tool: string, at: string): string =>
    `an equal call of ${tool} began at ${at} in another conversation, and it has no result yet. The tool must not run twice for the same values. Do not send the call again; tell the user that it is under way.`,
  done: (tool: string, at: string): string =>
    `an equal call of ${tool} ran already, at ${at} in another conversation, and the tool must not run twice for the same values. Its result is not shown here. Treat it as done, and do not send the call again.`,
  unknown: (tool: string, at: string): string =>
    `an equal call of ${tool} began at ${at} in another conversation. It may have run, and nobody knows its end. The tool must not run twice for the same values. Check whether the call took effect, or tell the user; do not send the call again.`,
} as const

export const onceUnread =
  'Weir cannot read now whether an equal call ran in another conversation, and the tool must not run twice for the same values. Do not send the call again now; tell the user.'

export const onceTenantFull =
  'too many calls of tools that must not run twice are remembered, and no further one can be. Go on without it, or tell the user.'
