// Patterns of tool names: which tools a guard judges, and in which mode. Executor and guard must
// agree on it, so there is one place.

import type { GuardInForce, GuardMode } from '../../contract/messages.ts'

/**
 * `*` stands for any characters, also for none; everything else for itself. Takes no longer than
 * the name times the pattern.
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
 * How the guard judges this tool; undefined: not at all. Where several patterns match, `enforce`
 * counts: in doubt a guard guards (R6).
 */
export function modeFor(
  { tools }: Pick<GuardInForce, 'tools'>,
  tool: string,
): GuardMode | undefined {
  const modes = tools.filter(({ pattern }) => matchesPattern(pattern, tool)).map(({ mode }) => mode)
  return modes.includes('enforce') ? 'enforce' : modes[0]
}
