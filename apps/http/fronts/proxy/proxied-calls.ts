// The calls of an answer that the proxy passes on, for the hooks of its host. A hook names a call by its
// id, its tool and its arguments, in the host's spelling.

import type { GuestRequest } from '../../../../client/guard/guest-conversation.ts'
import { argumentsRunFor } from '../../../../client/guard/history/history.ts'
import { callInHooks } from '../../../../shared/hosts/hook-call.ts'
import { hostNamed } from '../../../../shared/hosts/hosts.ts'
import { sentArguments } from '../../../../shared/hosts/rewriting.ts'
import { canonicalArguments } from '../../../../shared/transcript/round-key.ts'
import { callsOfAnswer, type ModelAnswer } from '../../../../shared/wire/exchange.ts'
import type { JudgedCalls } from '../hooks/host-sessions.ts'

export function proxiedCalls(request: GuestRequest, answer: ModelAnswer): JudgedCalls {
  const host = hostNamed(request.host)
  const asRun = argumentsRunFor(request)
  const wordsOf = (id: string, name: string, text: string): string =>
    JSON.stringify([id, name, canonicalArguments(asRun({ name, arguments: text }))])
  const calls = callsOfAnswer(answer).map(({ id, ...call }) => {
    const shown = host === undefined ? [call] : callInHooks(call, host)
    return shown.map(({ name, arguments: text }) => wordsOf(id, name, text))
  })
  return {
    placesOf({ id, name, input }) {
      const given = typeof input === 'string' ? input : (JSON.stringify(input) ?? '')
      const text = host?.rewriting ? sentArguments(given, host.rewriting) : given
      const words = wordsOf(id, name, text)
      return calls.flatMap((own, at) => (own.includes(words) ? [at] : []))
    },
  }
}
