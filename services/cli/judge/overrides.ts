// `--set loop.identicalFailures=2`: thresholds other than the defaults, with the names, types and bounds that agent files have for them.

import type { AgentContent } from '../../../shared/agent-file/content.ts'
import { alternatives, shown } from '../../../shared/agent-file/mistake.ts'
import { nearestName } from '../../../shared/agent-file/nearest-name.ts'
import { schemaMistakes } from '../../../shared/agent-file/schema-mistakes.ts'
import { settingsOf } from '../../../shared/agent-file/settings-part.ts'
import { defaultPolicy } from '../../../shared/agents.ts'
import { WeirError } from '../../../shared/errors.ts'
import type { Given } from './verdict.ts'

/** What a trace can be judged by: how long a turn takes, and what it costs, no trace says. */
const keys = [
  ...Object.keys(defaultPolicy.loop).map((name) => `loop.${name}`),
  ...Object.keys(defaultPolicy.empty).map((name) => `empty.${name}`),
  'caps.calls',
  'caps.rounds',
]

type Sections = { loop: Record<string, unknown>; empty: Record<string, unknown>; caps: Record<string, unknown> }

/** `pairs`: KEY=VALUE; of a key that is given twice the last one. Throws `usage`, which names the keys that there are. */
export function givenBy(pairs: readonly string[]): Given {
  const content: Sections = { loop: {}, empty: {}, caps: {} }
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const key = at < 0 ? pair : pair.slice(0, at).trim()
    if (at < 0 || !keys.includes(key)) throw unknownKey(pair, key)
    const [section, name] = key.split('.') as [keyof Sections, string]
    content[section][name] = readValue(pair.slice(at + 1).trim())
  }
  const [mistake] = schemaMistakes(content).complaints.filter(({ path }) => path.length === 2)
  if (mistake !== undefined) throw new WeirError('usage', `--set ${mistake.path.join('.')} ${mistake.text}`)
  const { policy } = settingsOf(content as AgentContent)
  const { calls, rounds } = content.caps as { calls?: number; rounds?: number }
  return { policy, caps: { calls, rounds } }
}

function readValue(text: string): unknown {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}

function unknownKey(pair: string, key: string): WeirError {
  if (keys.includes(key)) return new WeirError('usage', `--set ${key} has no value; write --set ${key}=VALUE`)
  const near = nearestName(key, keys)
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  return new WeirError('usage', `--set ${shown(pair)} names no threshold${meant} There are ${alternatives(keys, 'and')}`)
}
