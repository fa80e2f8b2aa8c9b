// Requests to a provider are valid: every call has exactly one result, rounds have no gap, and the
// request has its own user message (I5.4). The provider records each request, and this checker
// judges it.

import { type Checker, type ModelRequest, roundKey } from '../../evidence.ts'

export const historyValid: Checker<'modelRequests'> = {
  name: 'history-valid',
  rule: 'In each request to a provider every call has one result and rounds have no gap.',
  needs: ['modelRequests'],
  check: ({ modelRequests }) =>
    modelRequests.flatMap((request) => {
      const { conversation, turn, round } = request
      const problem = faultOf(request)
      return problem === undefined
        ? []
        : [{ problem: `the request for ${roundKey({ conversation, turn, round })}: ${problem}` }]
    }),
}

function faultOf({ history }: ModelRequest): string | undefined {
  let previous: { turn: number; round: number } | undefined
  for (const { turn, round, user, response, results } of history) {
    if (round === 0 ? user === null : user !== null)
      return `entry ${turn}/${round} ${user === null ? 'has no' : 'has a'} user message`
    const ordinals = results.map(({ ordinal }) => ordinal).sort((a, b) => a - b)
    const calls = (response?.calls ?? []).map(({ ordinal }) => ordinal).sort((a, b) => a - b)
    if (String(ordinals) !== String(calls))
      return `entry ${turn}/${round} has calls ${calls} and results ${ordinals}`
    if (previous !== undefined && turn === previous.turn && round !== previous.round + 1)
      return `entry ${turn}/${round} follows ${previous.round}`
    if (previous !== undefined && turn < previous.turn)
      return `turn ${turn} follows ${previous.turn}`
    if (previous?.turn !== turn && round !== 0) return `turn ${turn} begins with round ${round}`
    previous = { turn, round }
  }
  return previous === undefined ? 'it is empty' : undefined
}
