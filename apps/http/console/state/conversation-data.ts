// The data of one conversation for the page: that of `weir report`.

import type { ConversationId } from '../../../../shared/contract/ids.ts'
import { inOrder } from '../../../../shared/view/logged.ts'
import { existingRecords } from '../../../history/inspect/existing-records.ts'
import { contextTurns } from '../../../history/inspect/recorded.ts'
import type { OpenLog } from '../../../history/open-log.ts'
import { reportOf } from '../../../report/conversation-report.ts'
import { indexEntry } from '../../../report/index-entry.ts'
import type { ConversationData } from '../page/console-state.ts'

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
