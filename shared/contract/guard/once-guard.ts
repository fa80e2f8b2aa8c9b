/** The guard without which no call of a `once` tool runs. */
export const onceGuard = 'once'
