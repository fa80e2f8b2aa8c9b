// The log: pino, JSON lines on stderr. It never holds a secret. It holds tool arguments and results
// at debug only.

import { type DestinationStream, type Logger, pino } from 'pino'

/** The secrets in a logged agent, request or SDK error, up to three levels deep. */
const secretPaths = ['', '*.', '*.*.', '*.*.*.'].flatMap((above) =>
  [
    'apiKey',
    'headers.authorization',
    'headers.Authorization',
    'headers["x-api-key"]',
    'headers["X-Api-Key"]',
  ].map((path) => above + path),
)

/** `level`: trace, debug, info, warn, error, fatal or silent. `destination`: stderr by default. */
export function createLog(options: { level: string; destination?: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: undefined,
      redact: { paths: secretPaths, censor: '[secret]' },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  )
}
