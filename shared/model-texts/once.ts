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
