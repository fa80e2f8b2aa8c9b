// `weir guard register`: registers a guard that runs elsewhere, in any language, and creates its
// topic. A guard that Weir runs registers itself.

import { partitionCount } from '../../../client/place/open-bus.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import type { GuardInForce, GuardMode } from '../../../shared/contract/messages.ts'
import { retentionMsOf } from '../../../shared/contract/retention.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import {
  type RegisterOptions,
  registerGuard,
} from '../../../shared/runtime/guards/guard-registry.ts'
import { printable } from '../../terminal/text/printable.ts'
import type { SettingChange } from '../setting-command.ts'
import { modeLines } from './change.ts'
import { failoverWarning } from './failover.ts'

/** `tools`: patterns, optionally with `=enforce` or `=shadow`. */
export type GuardRegisterOptions = {
  name: string
  version: string
  tools: string[]
  deadlineMs: string
  onTimeout: 'deny' | 'allow'
  mode?: GuardMode
  replace?: boolean
}

type Registration = Pick<RegisterOptions, 'guard' | 'mode' | 'replace'> & {
  modes: Map<string, GuardMode | undefined>
}

/** An equal registration changes nothing. Throws `guard.invalid`, `guard.taken`, `usage`. */
export const registration: SettingChange<GuardRegisterOptions, Registration, GuardInForce> = {
  createsLog: true,
  read({ name, version, tools, deadlineMs, onTimeout, mode, replace = false }) {
    const modes = modesOf(tools)
    const patterns = [...modes.keys()]
    const guard = { name, version, tools: patterns, deadlineMs: wholeMs(deadlineMs), onTimeout }
    return { guard, mode, modes, replace }
  },
  async write({ bus, topicPrefix }, input, { by, settings }) {
    const partitions = await partitionCount(bus, topicPrefix)
    const retentionMs = retentionMsOf(settings.retentionDays)
    return registerGuard({ ...input, bus, topicPrefix, partitions, retentionMs, by })
  },
  notes(_, { settings }) {
    const { isLocal, title } = busKindOf(settings)
    const needs = 'only weir guard run can run a guard: a guard in another language needs Kafka'
    return [isLocal ? `on ${title} ${needs}` : undefined]
  },
  lines(guard, settings) {
    const { topicPrefix } = settings
    const { name } = guard
    const warning = failoverWarning(guard, settings)
    const reads = `${topicPrefix}rounds-cleared as the group ${topicPrefix}guard.${name}`
    return [
      ...modeLines(guard),
      ...(warning === undefined ? [] : [`warning: ${warning}`]),
      `it reads ${reads}, and writes ${topicPrefix}${guardTopicName(name)}`,
    ]
  },
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
