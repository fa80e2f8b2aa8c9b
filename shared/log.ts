// The log: pino, JSON lines on stderr. Never a secret; tool arguments and results at debug only.

import type { DestinationStream, Logger } from 'pino'
import { pino } from 'pino'

/** `level`: trace, debug, info, warn, error, fatal or silent. `destination`: where the lines go, stderr by default. */
export function createLog(options: { level: string; destination?: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: undefined,
      redact: {
        paths: ['apiKey', '*.apiKey', 'headers.authorization', 'headers["x-api-key"]', '*.headers["x-api-key"]'],
        censor: '[secret]',
      },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  )
}
