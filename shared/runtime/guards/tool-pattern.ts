// Patterns of tool names: they decide which tools a guard judges, and in which mode. Executor and
// guard must agree, so both use this file.

import type { GuardInForce, GuardMode } from '../../contract/messages.ts'

/**
 * `*` matches any characters, also none. All other characters match themselves. Takes at most the
 * length of the name times that of the pattern.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false
  const end = name.length - last.length
  let from = first.length
  for (const piece of rest) {
    const at = name.indexOf(piece, from)
    if (at < 0 || at + piece.length > end) return false
    from = at + piece.length
  }
  return true
}

/**
 * The mode in which the guard judges this tool. Undefined: not at all. If several patterns match,
 * `enforce` counts, because in doubt a guard denies (R6).
 */
export function modeFor(
  { tools }: Pick<GuardInForce, 'tools'>,
  tool: string,
): GuardMode | undefined {
  const modes = tools.filter(({ pattern }) => matchesPattern(pattern, tool)).map(({ mode }) => mode)
  return modes.includes('enforce') ? 'enforce' : modes[0]
}

/** The mode in which one of these guards judges this tool. Undefined: it is not among them. */
export function modeAmong(
  guards: readonly Pick<GuardInForce, 'name' | 'tools'>[],
  { guard, tool }: { guard: string; tool: string },
): GuardMode | undefined {
  const own = guards.find(({ name }) => name === guard)
  return own && modeFor(own, tool)
}
