// The list of conversations as far as it is loaded: pages of the server, one after the other, and the
// rows that contain the typed words.

import type { PricedConversation } from '../../../../history/conversations/conversations.ts'
import { read } from '../parts/server.ts'

export type Filters = Record<string, string>

export type ConversationPages = {
  /** The loaded rows that contain the words, the latest activity first. */
  readonly rows: PricedConversation[]
  readonly loaded: number
  readonly isWhole: boolean
  readonly isLoading: boolean
  readonly problem: string | null
  /** Loads the list anew. */
  load(filters: Filters): void
  search(words: string): void
  /** Loads the next page if there is one. */
  more(): void
}

type Page = { conversations: PricedConversation[]; next: string | null }

/** The first page is small, so the first paint is early. */
const firstPage = 100
const nextPages = 1_000

export function conversationPages(onChange: () => void): ConversationPages {
  const all = new Map<string, PricedConversation>()
  let rows: PricedConversation[] = []
  let words: string[] = []
  let filters: Filters = {}
  let next: string | null = '0'
  let isLoading = false
  let problem: string | null = null
  let turn = 0

  function select(): void {
    rows = [...all.values()].filter((one) => words.every((word) => textOf(one).includes(word)))
  }

  async function load(): Promise<void> {
    if (isLoading || next === null) return
    isLoading = true
    onChange()
    const own = turn
    const limit = next === '0' ? firstPage : nextPages
    const query = new URLSearchParams({ ...filters, limit: `${limit}`, after: next })
    try {
      const page = await read<Page>(`conversations?${query}`)
      if (own !== turn) return
      for (const one of page.conversations)
        if (!all.has(one.conversation)) all.set(one.conversation, one)
      next = page.next
      problem = null
      select()
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

  return {
    get rows() {
      return rows
    },
    get loaded() {
      return all.size
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
      turn += 1
      filters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
      all.clear()
      rows = []
      next = '0'
      isLoading = false
      void load()
    },
    search(given) {
      words = given
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== '')
      select()
      onChange()
    },
    more: () => void load(),
  }
}

function textOf({ conversation, agent, question, last }: PricedConversation): string {
  return `${conversation}\n${agent ?? ''}\n${question ?? ''}\n${last.reason ?? ''}`.toLowerCase()
}
