// The texts that the model of an agent reads for a child that a cap of its tree refuses, and for a child
// that ended without its task done. Each names the reason and the next step.

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

const notDone = 'Do not treat its task as done.'

/** `how`: the way its turn ended. `why`: a clause. */
export function childEnded(
  agent: string,
  how: 'stopped' | 'limit' | 'failed',
  why: string,
): string {
  switch (how) {
    case 'stopped':
      return `the agent '${agent}' was stopped before its task was done: ${why}. ${notDone} Do not start it again unless the user wants that.`
    case 'limit':
      return `the agent '${agent}' reached a limit before its task was done: ${why}. ${notDone} Give a further agent a smaller part, do the rest yourself, or tell the user.`
    case 'failed':
      return `the agent '${agent}' failed before its task was done: ${why}. ${notDone} Its calls may have taken effect, so check before you repeat any part.`
  }
}

/** Its reply came after a limit, without further calls. */
export function childCutShort(agent: string, limit: string, reply: string): string {
  return `${reply}\n\n[The agent '${agent}' reached its limit (${limit}) before this answer. Its task may not be done: check before you rely on the answer.]`
}

/** Weir ended a sub-agent of a guest. `why`: a sentence or a clause. */
export function guestChildEnded(why: string): string {
  return `Weir ended an agent that you started before its task was done: ${why.replace(/\.$/, '')}. ${notDone} Check its work before you rely on it, and do not start it again for the same task.`
}
