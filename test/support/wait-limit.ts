/**
 * How long a test waits for what must come, however busy the machine is: less than a test's limit
 * (jest.config.js), so that it ends with what it waited for.
 */
export const waitMaxMs = 100_000
