// The report of the conformance suite of MCP.

/** The scenarios that count and failed, sorted. */
export function failuresIn(stdout: string): string[] {
  const [, summary = '', notScored = ''] = stdout.split(/=== (?:SUITE )?SUMMARY ===|Not scored for/)
  const unscored = [...notScored.matchAll(/[✓✗] (\S+)/g)].map(([, name = '']) => name)
  const failed = [...summary.matchAll(/✗ ([^\s:]+):/g)].map(([, name = '']) => name)
  return failed.filter((name) => !unscored.includes(name)).sort()
}
