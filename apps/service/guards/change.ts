// `weir guard mode`: writes one record to `policies`, effective from the next model response.

import type { GuardInForce, GuardMode } from '../../../shared/contract/messages.ts'
import { switchGuard } from '../../../shared/runtime/guards/guard-registry.ts'
import type { SettingChange } from '../setting-command.ts'

export type ModeOptions = { name: string; mode: GuardMode; tools?: string[] }

/** `tools`: registered patterns; default: all. Throws `guard.unknown`. */
export const modeChange: SettingChange<ModeOptions, ModeOptions, GuardInForce> = {
  read: (options) => options,
  write: (table, { name, mode, tools: patterns = [] }, { by }) =>
    switchGuard(table, name, { mode, by, patterns }),
  lines: modeLines,
}

export function modeLines({ name, tools }: GuardInForce): string[] {
  return tools.map(
    ({ pattern, mode }) =>
      `${name} ${mode === 'enforce' ? 'enforces' : 'is a shadow'} for ${pattern}`,
  )
}
