// A conversation as the page of `weir report`, live: a new record of it draws the page anew. The open
// rows, the search and the place stay.

import { render } from 'preact'
import {
  conversationView,
  nothingKept,
  type View,
} from '../../../../report/page/conversation-view.ts'
import type { ConversationData } from '../console-state.ts'
import { read } from '../parts/server.ts'

/** `data`: undefined: it is not read yet. */
export type ReportPage = {
  readonly data: ConversationData['data'] | undefined
  refresh(): void
  leave(): void
}

/** Draws at each `refresh`. `node`: the place of the page. `onProblem`: null: there is no error. */
export function reportPage(
  conversation: string,
  node: HTMLElement,
  onProblem: (error: Error | null) => void,
): ReportPage {
  const kept = nothingKept()
  let view: View | undefined
  let shown: ConversationData['data'] | undefined
  let isReading = false
  let isStale = false
  let isLeft = false

  async function draw(): Promise<void> {
    if (isReading) {
      isStale = true
      return
    }
    isReading = true
    try {
      do {
        isStale = false
        const path = `conversation?id=${encodeURIComponent(conversation)}`
        const { index, data, records } = await read<ConversationData>(path)
        if (isLeft) return
        const top = view === undefined ? 0 : scrollY
        view?.leave()
        shown = data
        view = conversationView({ data, index, readRecords: () => records, node, kept })
        scrollTo(0, top)
        onProblem(null)
      } while (isStale)
    } catch (error) {
      if (!isLeft) onProblem(error instanceof Error ? error : new Error(String(error)))
    } finally {
      isReading = false
    }
  }

  return {
    get data() {
      return shown
    },
    refresh: () => void draw(),
    leave() {
      isLeft = true
      view?.leave()
      render(null, node)
    },
  }
}
