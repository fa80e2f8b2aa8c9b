import { describe, expect, it } from '@jest/globals'
import { matchesPattern, modeFor } from '../../../../shared/runtime/guards/tool-pattern.ts'

describe('a pattern of tool names', () => {
  it.each([
    ['exec', 'exec', true],
    ['exec', 'exec2', false],
    ['exec', 'Exec', false],
    ['*', '', true],
    ['*', 'anything.at-all', true],
    ['file_*', 'file_write', true],
    ['file_*', 'profile_write', false],
    ['*_write', 'file_write', true],
    ['a*b', 'ab', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['*ab*ab*', 'xabx', false],
    ['.*', 'xy', false],
    ['[a-z]', 'a', false],
  ])('%j and the name %j', (pattern, name, expected) => {
    expect(matchesPattern(pattern, name)).toBe(expected)
  })

  it('is fast in all cases', () => {
    expect(matchesPattern(`${'*a'.repeat(100)}*b`, 'a'.repeat(100_000))).toBe(false)
  })
})

describe('the mode for a tool', () => {
  const tools = [
    { pattern: '*', mode: 'shadow' as const },
    { pattern: 'exec*', mode: 'enforce' as const },
  ]

  it('is that of the pattern, and enforce if several match', () => {
    expect(modeFor({ tools }, 'search')).toBe('shadow')
    expect(modeFor({ tools }, 'exec')).toBe('enforce')
    expect(modeFor({ tools: tools.toReversed() }, 'exec')).toBe('enforce')
    expect(modeFor({ tools: tools.slice(1) }, 'search')).toBeUndefined()
  })
})
