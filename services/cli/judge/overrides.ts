// `--set loop.identicalFailures=2`: thresholds and modes of rules other than the defaults, with the names, types and bounds that agent files have for them.

import { defaultPolicy } from '../../../shared/agents.ts'
import { policyKeys, readEntries } from '../../../shared/policy/entries.ts'
import { overlaid } from '../../../shared/policy/overlay.ts'
import { entriesOf } from '../policy-pairs.ts'
import type { Given } from './verdict.ts'

/** What a trace can be judged by: how long a turn takes, and what it costs, no trace says. */
const keys = policyKeys.filter((key) => key !== 'caps.wallMs' && key !== 'caps.tokens')

/** `pairs`: KEY=VALUE. Throws `usage`, which names the keys that there are. */
export function givenBy(pairs: readonly string[]): Given {
  const { content } = readEntries(entriesOf(pairs, { flag: '--set ', keys }))
  const { calls, rounds } = content.caps
  return { policy: overlaid(defaultPolicy, content), caps: { calls, rounds } }
}
