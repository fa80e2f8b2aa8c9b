// `weir guard mode` and `weir guard remove`: one record in `policies` each, in force from the next
// model response on.

import type { GuardMode } from '../../../shared/contract/messages.ts'
import { removeGuard, switchGuard } from '../../../shared/runtime/guards/register.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withKnownRegistry } from '../../history/registry.ts'
import { printable } from '../../terminal/printable.ts'

/** `tools`: patterns that it was registered with; none: all. Throws `guard.unknown`. */
export async function setGuardMode(
  name: string,
  mode: GuardMode,
  { tools = [] }: { tools?: string[] },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const guard = await withKnownRegistry(settings, (registry) =>
    switchGuard(registry, name, mode, tools),
  )
  for (const { pattern, mode } of guard.tools)
    out.write(
      `${printable(`${name} ${mode === 'enforce' ? 'enforces' : 'is a shadow'} for ${pattern}`)}\n`,
    )
}

/** Throws `guard.unknown`. */
export async function takeGuardOut(
  name: string,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  await withKnownRegistry(settings, (registry) => removeGuard(registry, name))
  out.write(`${printable(name)} is removed; rounds that wait for it do so until its deadline\n`)
}
