// A guard of the chaos suite, as another team would write it. It rejects the calls whose argument
// `risk` names it. Its verdict counts the earlier calls of the conversation. The log then shows
// whether a guard that was killed restored its memory. Its options are its registration: `weir
// guard run risk.ts --options ledger-1.json`.

import type { Guard } from '../../../shared/contract/guard/guard.ts'

export type RiskOptions = Pick<Guard, 'name' | 'version' | 'tools' | 'deadlineMs' | 'onTimeout'>

export default function riskGuard(options: RiskOptions): Guard<{ seen: number }> {
  const { name, version } = options
  return {
    ...options,
    judge: ({ seen } = { seen: 0 }, { calls }) => ({
      state: { seen: seen + calls.length },
      verdicts: calls.map(({ ordinal, arguments: { risk } }, i) =>
        typeof risk === 'string' && risk.split(' ').includes(name)
          ? {
              ordinal,
              verdict: 'deny',
              code: 'risk',
              text: `${name} ${version} has seen ${seen + i} calls before; it does not want this one.`,
            }
          : { ordinal, verdict: 'allow' },
      ),
    }),
  }
}
