// The test files that compute and do not wait: all unit tests, and these parts of paths.

const parts = [
  '.unit.test.ts',
  'test/simulation/',
  'test/parity/fronts.',
  'test/parity/core.',
  'test/parity/memory.',
  'test/apps/replay/judge/one-verdict.',
  'test/models/',
]

export function computes(path: string): boolean {
  return parts.some((part) => path.includes(part))
}
