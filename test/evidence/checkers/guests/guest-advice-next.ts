// G5: each judged request of a guest has the advice on the last round of its history. That round was
// judged before the request went on. Without any fault Weir judges each request in time.

import type { AdviceAction } from '../../../../shared/contract/messages.ts'
import type { Checker, GuestShown } from '../../evidence.ts'
import { type GuestFacts, guestFacts } from './guest-facts.ts'

export const weights: Record<AdviceAction, number> = { none: 0, nudge: 1, text_only: 2, end: 3 }

export const guestAdviceNext: Checker<'guestHistories'> = {
  name: 'guest-advice-next',
  rule: 'Each judged request of a guest has the advice on the last round of its history.',
  needs: ['guestHistories'],
  check(evidence) {
    const facts = guestFacts(evidence)
    const { asked, isCalm } = evidence.guestHistories
    return asked.flatMap((one) => {
      const problem = problemOf(one, facts, isCalm)
      return problem === undefined ? [] : [{ problem: `${problem}: ${JSON.stringify(one)}` }]
    })
  },
}

/** The guest of a fork does not see the other one's rounds, and a hiding front changes the keys. */
function problemOf(asked: GuestShown, facts: GuestFacts, isCalm: boolean): string | undefined {
  const { keys, conversation, turnKey, judged, isForked, mode, time, action } = asked
  const key = keys.at(-1)
  if (isCalm && !isForked && !judged) return 'it was not judged in time'
  if (!judged || isForked || mode === 'hiding' || key === undefined) return undefined
  // A stopped turn takes no further round. The highest advice holds for each of its requests.
  const stop = facts.stopOf({ conversation, turnKey })
  if (action === 'end' && stop !== undefined && stop <= time) return undefined
  const rounds = facts.roundsOf({ conversation, turnKey, key })
  const newest = rounds.findLast(({ time: proposed }) => proposed <= time)
  if (newest === undefined) return 'the last round of its history was not known'
  const end = facts.endOf(newest.message)
  if (end !== undefined && end <= time) return undefined // the turn began anew
  const outcome = facts.outcomeOf(newest.message)
  if (outcome === undefined || outcome.time > time)
    return 'it went on before the last round of its history was judged'
  const { intervention } = outcome.message
  if (intervention !== null && weights[action] < weights[intervention.action])
    return `it has the advice ${action}, and its last round led to ${intervention.action}`
  return undefined
}
