// The data of one conversation for the page: that of `weir report`, and the reason of a waiting call.

import type { ConversationId, RoundId } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { shortened } from '../../../../shared/lib/text-cut.ts'
import { viewOf } from '../../../../shared/view/conversation-view.ts'
import { inOrder } from '../../../../shared/view/logged.ts'
import { responseOf } from '../../../../shared/view/round-view.ts'
import { existingRecords } from '../../../history/inspect/existing-records.ts'
import { contextTurns } from '../../../history/inspect/recorded.ts'
import type { OpenLog } from '../../../history/open-log.ts'
import { reportOf } from '../../../report/conversation-report.ts'
import { indexEntry } from '../../../report/index-entry.ts'
import type { CallContext, ConversationData } from '../page/console-state.ts'
import type { RecentTurn } from './recent-turns.ts'

/** `madeAt`: of a page that does not follow the log. Throws `conversation.unknown`. */
export async function conversationData(
  conversation: ConversationId,
  { log, source, madeAt = null }: { log: OpenLog; source: string; madeAt?: Milliseconds | null },
): Promise<ConversationData> {
  const records = inOrder(await existingRecords(conversation, log))
  const context = await contextTurns(conversation, log)
  const showing = { log, turn: undefined, reasoning: false, context, isLive: madeAt === null }
  const { report, from } = await reportOf(conversation, records, showing)
  const index = {
    madeAt,
    source,
    exportedAt: null,
    redaction: null,
    conversations: [indexEntry({ conversation, from, place: 0 }, report.data)],
  }
  return { index, ...report }
}

/** The newest turns of the conversation, for a what-if. Throws `conversation.unknown`. */
export async function turnsIn(conversation: ConversationId, log: OpenLog): Promise<RecentTurn[]> {
  const { turns } = viewOf(inOrder(await existingRecords(conversation, log)), 'turn')
  return [...turns.values()]
    .filter(({ isOpened }) => isOpened)
    .map(({ turn, agent = '', firstAt }) => ({ conversation, turn, agent, startedAt: firstAt }))
    .sort((a, b) => b.startedAt - a.startedAt)
    .slice(0, limits.consoleWhatIfTurnsMax)
}

/** The user's message of the turn, and the model's last words. Throws `conversation.unknown`. */
export async function callContext(
  { conversation, turn, round }: RoundId,
  log: OpenLog,
): Promise<CallContext> {
  const { turns, asked } = viewOf(inOrder(await existingRecords(conversation, log)))
  const view = turns.get(turn)
  const texts = [...(view?.rounds.values() ?? [])]
    .filter((one) => one.round <= round)
    .sort((a, b) => b.round - a.round)
    .map((one) => responseOf(one)?.text ?? '')
  return {
    question: briefly(view?.opening?.user ?? asked.get(view?.messageId ?? '')?.text),
    words: briefly(texts.find((text) => text.trim() !== '')),
  }
}

function briefly(text: string | null | undefined): string | null {
  return text == null ? null : shortened(text, limits.reasonBytesMax)
}
