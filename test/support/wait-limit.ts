/**
 * The longest wait of a test for an expected event, also on a busy machine. It is below a test's time
 * limit (jest.config.js), so the error names the event.
 */
export const waitMaxMs = 100_000
