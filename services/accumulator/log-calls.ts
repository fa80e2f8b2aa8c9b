// Logs the accumulator's decisions. A reducer cannot log, so the runtime calls this for each
// written record.

import type { Logger } from 'pino'
import type { Message } from '../../shared/contract/messages.ts'

/**
 * Logs each finalized call with its raw argument text. At debug, because arguments are the user's
 * data (I1).
 */
export function logCalls(message: Message, log: Logger): void {
  if (message.type !== 'round-proposed') return
  const { conversation, turn, round } = message
  for (const { ordinal, name, source, problem, raw, repair, disputed } of message.response.calls) {
    const also = {
      ...(repair && { mended: repair.how, sent: repair.sent }),
      ...(disputed && { disputed }),
    }
    log.debug(
      { conversation, turn, round, ordinal, name, source, problem, raw, ...also },
      'call finalized',
    )
  }
}
