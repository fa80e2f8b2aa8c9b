// A guard for tests of fronts: a script decides, and every call is recorded.

import { checkRequest } from '../../../client/guard/formats.ts'
import type {
  Advice,
  CallVerdict,
  GuardSession,
  GuestAnswer,
  GuestPlaceOptions,
  GuestRequest,
  GuestResult,
} from '../../../client/guard/guest-conversation.ts'
import { endedForUser } from '../../../shared/model-texts/user-texts.ts'

type Asking = { turn: string | undefined } & Pick<GuestPlaceOptions, 'parent' | 'root'>

export type Asked =
  | ({ kind: 'before'; id: string; request: GuestRequest } & Asking)
  | ({ kind: 'after'; id: string; answer: GuestAnswer } & Asking)
  | { kind: 'results'; id: string; results: GuestResult[] }
  | { kind: 'end'; id: string }
  | { kind: 'goes-on'; id: string; callId: string; child: string }
  | { kind: 'child-ended'; id: string; child: string }
  | { kind: 'finish'; id: string }

export const noAdvice: Omit<Advice, 'applied'> = {
  action: 'none',
  text: '',
  reason: '',
  rule: null,
  cap: null,
  userText: '',
  fallback: '',
  judged: true,
}

/** `before` and `after` are called with each request; without them nothing is wrong. */
export function scriptedGuard({
  before = () => ({}),
  after = () => [],
}: {
  before?: (
    request: GuestRequest,
    signal?: AbortSignal,
  ) => Partial<Advice> | Promise<Partial<Advice>>
  after?: (answer: GuestAnswer, n: number) => CallVerdict[] | Promise<CallVerdict[]>
} = {}): GuardSession & { asked: Asked[] } {
  const asked: Asked[] = []
  let answers = 0
  return {
    asked,
    conversation: (id, { turn, ...place } = {}) => ({
      async beforeModel(asWritten, signal) {
        checkRequest(asWritten, 'beforeModel')
        const request = asWritten as GuestRequest
        asked.push({ kind: 'before', id, turn, ...place, request })
        const given = { ...noAdvice, applied: request.body, ...(await before(request, signal)) }
        return given.action === 'end' ? { ...given, userText: endedForUser(given) } : given
      },
      goesOn(callId, child) {
        asked.push({ kind: 'goes-on', id, callId, child })
      },
      async childEnded(child) {
        asked.push({ kind: 'child-ended', id, child })
      },
      async afterModel(asWritten) {
        checkRequest(asWritten.request, 'afterModel')
        const answer = asWritten as GuestAnswer
        asked.push({ kind: 'after', id, turn, ...place, answer })
        answers += 1
        return after(answer, answers)
      },
      async reportResults(results) {
        asked.push({ kind: 'results', id, results })
      },
      async endTurn() {
        asked.push({ kind: 'end', id })
      },
      async finishTurn() {
        asked.push({ kind: 'finish', id })
      },
    }),
    failed: new Promise(() => {}),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
}
