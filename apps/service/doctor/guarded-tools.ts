// Tools that need a guard, or that a guard judges: whether the registered guards do so.

import type { Agents } from '../../../shared/agents/agents.ts'
import { onceGuard, onceRuleOf } from '../../../shared/contract/guard/once-guard.ts'
import type { GuardRegistration } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { registeredGuards } from '../../../shared/runtime/guards/guard-registry.ts'
import { modeAmong } from '../../../shared/runtime/guards/tool-pattern.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { type Check, warning } from './check.ts'
import { openSchemas } from './open-schemas.ts'

/** None if the log cannot be read: the check of guards reports that. A log that is missing has no guards. */
export async function guardedToolChecks(agents: Agents, settings: Settings): Promise<Check[]> {
  try {
    const guards = await withLog(settings, registeredGuards).catch(noneIfMissing)
    return [...openSchemas(agents, guards), ...onceChecks(agents, guards)]
  } catch {
    return []
  }
}

/** A warning for each tool with `once` that no guard once enforces. */
export function onceChecks(
  agents: Agents,
  guards: readonly Pick<GuardRegistration, 'name' | 'tools'>[],
): Check[] {
  return [...agents.values()].flatMap(({ name, tools }) =>
    tools.flatMap(({ declaration: { name: tool, hints } }) => {
      const mode = modeAmong(guards, { guard: onceGuard, tool })
      if (onceRuleOf({ hints }) === undefined || mode === 'enforce') return []
      const fault =
        mode === 'shadow'
          ? 'the guard once only reports for it, so equal calls run twice'
          : 'no guard once judges it, so no call of it runs'
      return [warning('once', `${name}/${tool} has once, and ${fault}`, remedy)]
    }),
  )
}

const remedy =
  'start the guard (weir up --guard once --guard-mode enforce, weir guard run once --mode enforce), or switch it (weir guard mode once enforce)'

function noneIfMissing(error: unknown): GuardRegistration[] {
  if (error instanceof WeirError && error.code === 'bus.not-a-database') return []
  throw error
}
