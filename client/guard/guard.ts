// Guards an agent that runs elsewhere: the package's `weir-agents/guard`.
// Without a log it loads no bus and no file of a database. Only the errors are loaded before a
// guard is opened, and the stages with their first records.

import type { Guest, GuestAgent } from '../../shared/agents/guest.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { GuardOptions } from './guard-options.ts'
import type { GuardSession } from './guest-conversation.ts'
import type { GuestThread, ThreadOptions } from './guest-thread.ts'

export type {
  Advice,
  CallVerdict,
  GuardSession,
  GuestAnswer,
  GuestConversation,
  GuestFormat,
  GuestRequest,
  GuestResult,
} from './guest-conversation.ts'
export type { VerdictCode } from './verdict-code.ts'
export type { GuardOptions, GuestAgent }
export { WeirError }

/**
 * Guards an agent that runs elsewhere. Without `dataFolder` or `kafka` nothing is written. Throws
 * `settings.invalid` and `agent.invalid` for options, and for `stages` the errors of Weir.open.
 */
export async function openGuard(options: GuardOptions): Promise<GuardSession> {
  const { checkGuardOptions, checkThread } = await import('./guard-options.ts')
  checkGuardOptions(options)
  const guest = await guestOf(options.agent) // before anything is opened
  const agent = { ...guest, record: options.record ?? guest.record }
  const { conversation, failed, close } = await openFront({ ...options, agent })
  return {
    conversation(id, options = {}) {
      checkThread(id, options)
      const { turn, parent, root } = options
      return conversation(id, { turn, parent, root })
    },
    failed,
    close,
    [Symbol.asyncDispose]: close,
  }
}

type OpenFront = Pick<GuardSession, 'failed' | 'close'> & {
  conversation(id: string, options: ThreadOptions): GuestThread
}

async function openFront(options: GuardOptions & { agent: Guest }): Promise<OpenFront> {
  const { dataFolder, kafka, stages } = options
  if (dataFolder === undefined && kafka === undefined && stages === undefined) {
    const { openInMemory } = await import('./memory/open-memory.ts')
    return openInMemory(options)
  }
  const { frontsPlace, openFronts } = await import('./log/fronts.ts')
  const fronts = await openFronts(frontsPlace(options), options)
  const { conversation } = fronts.front(options)
  return { conversation, failed: fronts.failed, close: fronts.close }
}

async function guestOf(given: string | GuestAgent): Promise<Guest> {
  const { wholeGuest } = await import('./guest-agent.ts')
  if (typeof given !== 'string') return wholeGuest(given)
  const { fileOfGuest } = await import('./guest-place.ts')
  const { file, name } = fileOfGuest(given)
  if (file === undefined && name !== undefined) return wholeGuest({ name })
  const { guestAgent } = await import('./guest-file.ts')
  return guestAgent(given)
}
