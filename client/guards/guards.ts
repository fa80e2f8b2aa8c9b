// The guards that ship, for a program: the package's `weir-agents/guards`. `weir guard run NAME`
// starts the same ones.
// Here: loading and checking a guard. Not here: the guards (services/guards) and their runs
// (shared/runtime/guards).

export { default as flowGuard } from '../../services/guards/flow/guard.ts'
export type { FlowGuardOptions } from '../../services/guards/flow/options.ts'
export { default as onceGuard, type OnceGuardOptions } from '../../services/guards/once/guard.ts'
export { default as opaGuard, type OpaGuardOptions } from '../../services/guards/opa/guard.ts'
export { default as shellGuard } from '../../services/guards/shell/guard.ts'
export type { ShellGuardOptions } from '../../services/guards/shell/options.ts'
export { default as spendGuard, type SpendGuardOptions } from '../../services/guards/spend/guard.ts'
