// The texts that a host shows to its person.

export const notJudgedNow = 'Weir cannot judge this event now'

export function turnEnded(reason: string): string {
  return `Weir ended the turn: ${reason}`
}

/** `call`: its name and arguments. */
export function questionOn(approval: string, call: string): string {
  return `Weir asks before this call runs (approval ${approval}).\n${call}`
}
