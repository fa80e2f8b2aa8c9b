// The texts that a host shows to its person.

export const notJudgedNow = 'Weir cannot judge this event now'

/** `userText`: that of the advice which ended the agent's turn. */
export function subAgentEnded(userText: string): string {
  return `In a sub-agent: ${userText}`
}

/** `call`: its name and arguments. */
export function questionOn(approval: string, call: string): string {
  return `Weir asks before this call runs (approval ${approval}).\n${call}`
}
