// Options of every SDK: the gateway owns retries, deadlines and logs.

/** The longest wait of a timer. The gateway watches deadlines itself, byte by byte. */
const never = 2 ** 31 - 1

export const sdkOptions = { maxRetries: 0, timeout: never, logLevel: 'off' } as const
