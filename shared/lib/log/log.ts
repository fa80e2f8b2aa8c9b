// The log: pino, JSON lines on stderr. It never holds a secret. It holds tool arguments and results
// at debug only.

import { type DestinationStream, type Logger, pino } from 'pino'
import { secretMask } from './secret-mask.ts'

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

/**
 * `level`: trace, debug, info, warn, error, fatal or silent. `destination`: stderr by default.
 * `secrets`: values that no line may contain, in any spelling.
 */
export function createLog(options: {
  level: string
  destination?: DestinationStream
  secrets?: readonly string[]
}): Logger {
  const { secrets = [] } = options
  return pino(
    {
      level: options.level,
      base: undefined,
      redact: { paths: secretPaths, censor: '[secret]' },
      ...(secrets.length > 0 && { hooks: { streamWrite: secretMask(secrets) } }),
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  )
}
