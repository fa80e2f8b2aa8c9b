// `weir guard mode`: writes one record to `policies`, effective from the next model response.

import { personHere } from '../../../services/approval/performer/person.ts'
import type { GuardMode } from '../../../shared/contract/messages.ts'
import { switchGuard } from '../../../shared/runtime/guards/guard-registry.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withExistingRegistry } from '../../history/registry.ts'
import { printable } from '../../terminal/text/printable.ts'

/** `tools`: registered patterns; default: all. Throws `guard.unknown`. */
export async function setGuardMode(
  name: string,
  mode: GuardMode,
  { tools = [], by = personHere() }: { tools?: string[]; by?: string },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const guard = await withExistingRegistry(settings, (registry) =>
    switchGuard(registry, name, { mode, by, patterns: tools }),
  )
  for (const { pattern, mode } of guard.tools)
    out.write(
      `${printable(`${name} ${mode === 'enforce' ? 'enforces' : 'is a shadow'} for ${pattern}`)}\n`,
    )
}
