// The list of conversations as far as it is loaded: pages of the server, one after the other. The
// server filters and sorts over all conversations.
// Here: the list, a conversation's page and its tree. Not here: the report's own parts
// (apps/report/page).

import type { PricedConversation } from '../../../../history/conversations/conversations.ts'
import type { ConversationsData } from '../console-state.ts'
import type { Filters } from '../parts/filters.ts'
import { read } from '../parts/server.ts'

export type ConversationPages = {
  /** The loaded rows, in the server's order. */
  readonly rows: PricedConversation[]
  /** The conversations that match, and all of them. Null: not counted yet. */
  readonly total: number | null
  readonly all: number | null
  /** The records that the search has not read yet. */
  readonly behind: number
  readonly isWhole: boolean
  readonly isLoading: boolean
  readonly problem: string | null
  /** Loads the list anew. */
  load(filters: Filters): void
  /** Loads the next page if there is one. */
  more(): void
}

/** The first page is small, so the first paint is early. */
const firstPage = 100
const nextPages = 1_000

/** While the search is after the log. */
const againMs = 2_000

export function conversationPages(onChange: () => void): ConversationPages {
  const all = new Map<string, PricedConversation>()
  let rows: PricedConversation[] = []
  let filters: Filters = {}
  let next: string | null = '0'
  let counts: Pick<ConversationsData, 'total' | 'all' | 'behind'> = nothingCounted
  let isLoading = false
  let problem: string | null = null
  let turn = 0
  let again: ReturnType<typeof setTimeout> | undefined

  async function load(): Promise<void> {
    if (isLoading || next === null) return
    isLoading = true
    onChange()
    const own = turn
    const isFirst = next === '0'
    const query = new URLSearchParams({
      ...filters,
      limit: `${isFirst ? firstPage : nextPages}`,
      after: next,
    })
    try {
      const page = await read<ConversationsData>(`conversations?${query}`)
      if (own !== turn) return
      for (const one of page.conversations)
        if (!all.has(one.conversation)) all.set(one.conversation, one)
      rows = [...all.values()]
      next = page.next
      counts = page
      problem = null
      if (isFirst && page.behind > 0) again = setTimeout(reload, againMs)
    } catch (error) {
      if (own !== turn) return
      next = null
      problem = error instanceof Error ? error.message : String(error)
    } finally {
      if (own === turn) {
        isLoading = false
        onChange()
      }
    }
  }

  /** The rows stay until the new ones are there. */
  function reload(): void {
    clearTimeout(again)
    turn += 1
    all.clear()
    next = '0'
    isLoading = false
    void load()
  }

  return {
    get rows() {
      return rows
    },
    get total() {
      return counts.total
    },
    get all() {
      return counts.all
    },
    get behind() {
      return counts.behind
    },
    get isWhole() {
      return next === null
    },
    get isLoading() {
      return isLoading
    },
    get problem() {
      return problem
    },
    load(given) {
      filters = given
      rows = []
      counts = nothingCounted
      reload()
    },
    more: () => void load(),
  }
}

const nothingCounted = { total: null, all: null, behind: 0 }
