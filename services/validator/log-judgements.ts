// Logs the validator's decisions. A reducer cannot log, so the runtime calls this for each written
// record.

import type { Logger } from 'pino'
import type { Message } from '../../shared/contract/messages.ts'

/**
 * Logs each denied call, at debug because reasons can quote the model. Also logs each call that
 * runs with `{}` although none came: no argument text, or another spelling of nothing (I1.1).
 */
export function logJudgements(message: Message, log: Logger): void {
  if (message.type !== 'round-checked') return
  const { conversation, turn, round, response, denials } = message
  for (const { ordinal, name, raw, problem } of response.calls)
    if (raw === '' && problem === null)
      log.info(
        { conversation, turn, round, ordinal, name },
        'called without arguments: runs with {}',
      )
  for (const { ordinal, code, reason } of denials)
    log.debug({ conversation, turn, round, ordinal, code, reason }, 'call denied')
}
