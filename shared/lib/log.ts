// The log: pino, JSON lines on stderr. Never a secret; tool arguments and results at debug only.

import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * Where a secret stands when somebody logs an agent, a request or an SDK's error as a whole: up to
 * three levels deep.
 */
const secretPaths = ['', '*.', '*.*.', '*.*.*.'].flatMap((above) =>
  [
    'apiKey',
    'headers.authorization',
    'headers.Authorization',
    'headers["x-api-key"]',
    'headers["X-Api-Key"]',
  ].map((path) => above + path),
)

/**
 * `level`: trace, debug, info, warn, error, fatal or silent. `destination`: where the lines go,
 * stderr by default.
 */
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
