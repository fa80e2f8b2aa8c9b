import type { ExternalGuard } from '../../client/weir.ts'

const guard: ExternalGuard = {
  name: 'policy-server',
  version: '1',
  tools: ['deploy'],
  deadlineMs: 5_000,
  onTimeout: 'deny',
  external: true,
  async judge(_state, round, { signal }) {
    const url = process.env.POLICY_URL ?? 'http://127.0.0.1:8181/judge'
    const body = JSON.stringify(round)
    const response = await fetch(url, { method: 'POST', body, signal })
    if (!response.ok) throw new Error(`the policy server answered ${response.status}`)
    const denied = (await response.json()) as Record<number, string>
    return {
      state: undefined,
      verdicts: round.calls.map(({ ordinal }) => {
        const text = denied[ordinal]
        if (text === undefined) return { ordinal, verdict: 'allow' }
        return { ordinal, verdict: 'deny', code: 'denied', text }
      }),
    }
  },
}

export default guard
