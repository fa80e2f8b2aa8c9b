// The guards that ship with Weir, for a program: `weir guard run NAME` starts the same ones.

import type { FlowGuardOptions } from '../../services/guards/flow/options.ts'
import type { OpaGuardOptions } from '../../services/guards/opa/guard.ts'
import type { ShellGuardOptions } from '../../services/guards/shell/options.ts'
import type { SpendGuardOptions } from '../../services/guards/spend/guard.ts'
import type { AnyGuard } from '../../shared/contract/guard/guard.ts'
import { shippedGuardFile } from './guard-file.ts'
import { loadGuard } from './load-guard.ts'

/** The options of each guard that ships. */
export type ShippedGuards = {
  flow: FlowGuardOptions
  opa: OpaGuardOptions
  shell: ShellGuardOptions
  spend: SpendGuardOptions
}

/**
 * A guard that ships, for `guards` of `Weir.open` and `openGuard`. Throws `guard.invalid` for
 * unusable options, and `usage` for an unknown name.
 */
export function shippedGuard<Name extends keyof ShippedGuards>(
  name: Name,
  options: ShippedGuards[Name],
): Promise<AnyGuard> {
  return loadGuard(shippedGuardFile(name), options)
}
