// What every provider's SDK is told alike: retries, deadlines and logs are ours.

/**
 * The longest wait that a timer can hold: how long to wait is ours to say, byte by byte, and not
 * the SDK's.
 */
const never = 2 ** 31 - 1

export const sdkOptions = { maxRetries: 0, timeout: never, logLevel: 'off' } as const
