// The advice for a guest that repeats a broken call never becomes weaker in its turn, and ends the
// turn after at most five rounds. A request that no stage answered in time has no advice.

import type { Checker, Finding, GuestAsked } from '../../evidence.ts'
import { weights } from './guest-advice-next.ts'

const roundsMax = 6

export const guestAdvice: Checker<'guestAdvice'> = {
  name: 'guest-advice',
  rule: 'Advice for a guest that repeats a broken call never becomes weaker and ends the turn.',
  needs: ['guestAdvice'],
  check({ guestAdvice }) {
    const findings: Finding[] = []
    const turns = Map.groupBy(
      guestAdvice.filter(({ isStubborn }) => isStubborn),
      ({ conversation, turn }) => `${conversation}/${turn}`,
    )
    for (const [turn, all] of turns) {
      const report = (problem: string) =>
        findings.push({ problem: `the turn ${turn} ${problem}: ${textOf(all)}` })
      const judged = all.filter((asked) => asked.judged)
      for (const [at, asked] of judged.entries()) {
        const before = judged[at - 1]
        if (before !== undefined && weights[asked.action] < weights[before.action])
          report(`has the advice ${asked.action} after ${before.action}`)
      }
      const late = judged.find(({ round, action }) => round >= roundsMax && action !== 'end')
      if (late !== undefined) report(`goes on after ${late.round - 1} equal failures`)
    }
    return findings
  },
}

function textOf(all: readonly GuestAsked[]): string {
  return all.map(({ action, judged }) => (judged ? action : 'unjudged')).join(', ')
}
