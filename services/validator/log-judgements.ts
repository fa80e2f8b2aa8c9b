// What the validator's decisions look like in the log. A reducer cannot log; the runtime calls this
// for each record that it wrote.

import type { Logger } from 'pino'
import type { Message } from '../../shared/contract/messages.ts'

/**
 * Logs each refused call, and each call that runs with `{}` although no argument text came: the one
 * case in which arguments are not the model's bytes (I1.1). Reasons can quote what the model wrote,
 * hence debug.
 */
export function logJudgements(message: Message, log: Logger): void {
  if (message.type !== 'round-checked') return
  const { conversation, turn, round, response, rejections } = message
  for (const { ordinal, name, source, problem } of response.calls)
    if (source === 'none' && problem === null)
      log.info(
        { conversation, turn, round, ordinal, name },
        'called without arguments: taken as {}',
      )
  for (const { ordinal, code, reason } of rejections)
    log.debug({ conversation, turn, round, ordinal, code, reason }, 'call rejected')
}
