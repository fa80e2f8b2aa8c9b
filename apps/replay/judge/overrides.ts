// The policy of a trace: the defaults, or the settings in force for a conversation of Weir, with
// `--set` over both. Names, types and bounds are those of agent files.

import {
  type PolicyContent,
  policyKeys,
  readEntries,
} from '../../../shared/agents/policy/entries.ts'
import { overlaid } from '../../../shared/agents/policy/overlay.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { entriesOf } from '../../terminal/policy-pairs.ts'
import type { OwnSettings } from './scenario.ts'
import type { Given } from './verdict.ts'

/** Settings by which a trace can be judged. A trace has no durations and no costs. */
const keys = policyKeys.filter((key) => key !== 'caps.wallMs' && key !== 'caps.tokens')

/** `pairs`: KEY=VALUE. Throws `usage` with the keys. */
export function givenBy(pairs: readonly string[]): Given {
  const { content } = readEntries(entriesOf(pairs, { flag: '--set ', keys }))
  const { calls, rounds } = content.caps
  return {
    policyWith: (own) => overlaid(overlaid(defaultPolicy, contentOf(own)), content),
    caps: { calls, rounds },
  }
}

/**
 * The settings that this version knows, without caps. A trace has the caps of its file or of the
 * caller.
 */
function contentOf(own: OwnSettings): PolicyContent {
  const entries = Object.entries(own).flatMap(([key, value]) =>
    value === null ? [] : [{ key, value }],
  )
  return { ...readEntries(entries).content, caps: {} }
}
