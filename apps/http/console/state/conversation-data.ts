// The data of one conversation for the page: that of `weir report`, and the reason of a waiting call.

import type { ConversationId, RoundId } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
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

/** Throws `conversation.unknown`. */
export async function conversationData(
  conversation: ConversationId,
  { log, source }: { log: OpenLog; source: string },
): Promise<ConversationData> {
  const records = inOrder(await existingRecords(conversation, log))
  const context = await contextTurns(conversation, log)
  const showing = { log, turn: undefined, reasoning: false, context, isLive: true }
  const { report, from } = await reportOf(conversation, records, showing)
  const index = {
    madeAt: null,
    source,
    exportedAt: null,
    redaction: null,
    conversations: [indexEntry({ conversation, from, place: 0 }, report.data)],
  }
  return { index, ...report }
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
