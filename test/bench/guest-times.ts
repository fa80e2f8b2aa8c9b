// The time of one answer of a front.

/** The milliseconds until `ask` resolves. */
export async function responseMs(ask: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await ask()
  return performance.now() - began
}
