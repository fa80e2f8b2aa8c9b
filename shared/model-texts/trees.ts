// The texts that the model of an agent reads for a child that a cap of its tree refuses. Each names the
// amount that is used up, and the next step.

const instead = 'Do this part yourself, or answer with the results that you have.'

export const tooDeep = (max: number): string =>
  `Not run: agents may stand at most ${max} deep below the first one, and this one would be deeper. ${instead}`

export const tooManyAtOnce = (max: number): string =>
  `Not run: at most ${max} ${max === 1 ? 'agent' : 'agents'} below the first one may run at once, and as many run now. Wait for the result of one of them, then make this call again if you still need it.`

export const tooManyInAll = (max: number): string =>
  `Not run: the first agent and those below it may start ${max} ${max === 1 ? 'agent' : 'agents'} in all, and as many have started. Start no further one. ${instead}`

/** `used`: such as `50000 of 50000 tokens`. */
export const usedUp = (used: string): string =>
  `Not run: the agents of this task have used up what they share, ${used}. Start no further one. Answer with the results that you have.`

export const treeUnreadable =
  'Not run: Weir cannot count the agents of this task now. Do not repeat the call now. Do this part yourself, or tell the user.'
