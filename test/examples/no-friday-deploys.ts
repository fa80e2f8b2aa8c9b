import type { Guard } from '../../client/weir.ts'

const guard: Guard = {
  name: 'no-friday-deploys',
  version: '1',
  tools: ['deploy'],
  deadlineMs: 500,
  onTimeout: 'deny',
  judge: (_state, round) => ({
    state: undefined,
    verdicts: round.calls.map(({ ordinal }) => {
      if (new Date(round.time).getUTCDay() !== 5) return { ordinal, verdict: 'allow' }
      const text = 'No deploys on Friday. Deploy on Monday.'
      return { ordinal, verdict: 'deny', code: 'friday', text }
    }),
  }),
}

export default guard
