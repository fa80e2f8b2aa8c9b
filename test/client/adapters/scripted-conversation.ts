// A conversation for tests of adapters: a script advises and decides, and every call is recorded.

import type {
  Advice,
  CallVerdict,
  GuestAnswer,
  GuestConversation,
  GuestRequest,
} from '../../../client/guard/guest-conversation.ts'

export type Scripted = GuestConversation & { asked: GuestRequest[]; answered: GuestAnswer[] }

/** `advise` and `judge` get the number of their call, from 1. Without them nothing is wrong. */
export function scriptedConversation({
  advise = () => ({}),
  judge = () => [],
}: {
  advise?: (n: number, request: GuestRequest) => Partial<Advice> | Promise<Partial<Advice>>
  judge?: (answer: GuestAnswer, n: number) => CallVerdict[] | Promise<CallVerdict[]>
} = {}): Scripted {
  const asked: GuestRequest[] = []
  const answered: GuestAnswer[] = []
  return {
    asked,
    answered,
    async beforeModel(asWritten) {
      const request = asWritten as GuestRequest
      asked.push(request)
      const none = { action: 'none', text: '', reason: '', rule: null, cap: null } as const
      return {
        ...none,
        userText: '',
        fallback: '',
        judged: true,
        applied: request.body,
        ...(await advise(asked.length, request)),
      }
    },
    async afterModel(asWritten) {
      const answer = asWritten as GuestAnswer
      answered.push(answer)
      return judge(answer, answered.length)
    },
    reportResults: async () => {},
    goesOn: () => {},
    childEnded: async () => {},
    endTurn: async () => {},
    finishTurn: async () => {},
  }
}

/** The advice of Weir's loop rules when every round fails in the same way. */
export function advisesLoop(n: number): Partial<Advice> {
  if (n === 3) return { action: 'nudge', text: 'This call failed the same way twice.' }
  if (n === 4) return { action: 'text_only', text: 'Answer in text now.' }
  if (n <= 4) return {}
  const reason = 'The agent repeated a failing call.'
  return { action: 'end', reason, userText: `Weir ended the turn: ${reason}` }
}

export const verdict = {
  run: (callId: string): CallVerdict => ({
    callId,
    name: '',
    verdict: 'allow',
    text: '',
    code: '',
  }),
  refuse: (callId: string, text: string): CallVerdict => ({
    callId,
    name: '',
    verdict: 'deny',
    text,
    code: 'guard.denied',
  }),
  wait: (callId: string): CallVerdict => ({
    callId,
    name: '',
    verdict: 'pending',
    text: '',
    code: 'guard.pending',
    approval: { id: 'a1', hash: 'h', until: 0 },
  }),
}
