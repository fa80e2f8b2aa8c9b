// `weir guard register`: registers a guard that runs elsewhere, in any language, and creates its
// topic. A guard that Weir runs registers itself.

import { partitionCount } from '../../../client/place/open-bus.ts'
import { personHere } from '../../../services/approval/performer/person.ts'
import type { GuardMode } from '../../../shared/contract/messages.ts'
import { retentionMsOf } from '../../../shared/contract/retention.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { registerGuard } from '../../../shared/runtime/guards/guard-registry.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withRegistry } from '../../history/registry.ts'
import { printable } from '../../terminal/text/printable.ts'
import { failoverWarning } from './failover.ts'

/** `tools`: patterns, optionally with `=enforce` or `=shadow`. */
export type GuardRegisterOptions = {
  version: string
  tools: string[]
  deadlineMs: string
  onTimeout: 'deny' | 'allow'
  mode?: GuardMode
  replace?: boolean
}

/** An equal registration changes nothing. Throws `guard.invalid`, `guard.taken`, `usage`. */
export async function registerElsewhere(
  name: string,
  { version, tools, deadlineMs, onTimeout, mode, replace = false }: GuardRegisterOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const modes = modesOf(tools)
  const guard = {
    name,
    version,
    tools: [...modes.keys()],
    deadlineMs: wholeMs(deadlineMs),
    onTimeout,
  }
  const retentionMs = retentionMsOf(settings.retentionDays)
  const inForce = await withRegistry(settings, async ({ bus, topicPrefix }) => {
    const log = {
      bus,
      topicPrefix,
      partitions: await partitionCount(bus, topicPrefix),
      retentionMs,
    }
    return registerGuard({ ...log, guard, mode, modes, replace, by: personHere() })
  })
  for (const { pattern, mode } of inForce.tools)
    out.write(
      `${printable(`${name} ${mode === 'enforce' ? 'enforces' : 'is a shadow'} for ${pattern}`)}\n`,
    )
  const warning = failoverWarning(guard, settings)
  if (warning !== undefined) out.write(`${printable(`warning: ${warning}`)}\n`)
  const { topicPrefix } = settings
  const reads = `${topicPrefix}rounds-cleared as the group ${topicPrefix}guard.${name}`
  out.write(`${printable(`it reads ${reads}, and writes ${topicPrefix}${guardTopicName(name)}`)}\n`)
}

/**
 * The mode by pattern. Undefined: the mode of --mode, or the mode before. A misspelled mode must not
 * become a part of the pattern, which would then match no tool.
 */
function modesOf(tools: string[]): Map<string, GuardMode | undefined> {
  return new Map(
    tools.map((given) => {
      const at = given.lastIndexOf('=')
      if (at < 0) return [given, undefined]
      const mode = given.slice(at + 1)
      if (mode === 'enforce' || mode === 'shadow') return [given.slice(0, at), mode]
      throw new WeirError(
        'usage',
        `--tools is '${printable(given)}'; the mode after = must be enforce or shadow, without blanks`,
      )
    }),
  )
}

function wholeMs(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text)
  throw new WeirError(
    'usage',
    `--deadline-ms is '${printable(text)}'; must be a whole number of milliseconds`,
  )
}
