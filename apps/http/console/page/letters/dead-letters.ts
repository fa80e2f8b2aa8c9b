// The dead letters as far as the page has read them: the list, and the open one with its record.

import type { ListedLetter, ShownLetter } from '../../../../history/dead-letters/list.ts'
import { read } from '../parts/server.ts'

export type DeadLetters = {
  /** The newest first. Undefined: not read yet. */
  readonly list: { letters: ListedLetter[]; total: number } | undefined
  /** The place of the open letter. Null: none. */
  readonly place: string | null
  readonly open: ShownLetter | undefined
  readonly problem: string | null
  /** The results of retries, by place. */
  readonly notes: ReadonlyMap<string, string>
  load(): void
  /** Opens a letter, or closes it if it is open. */
  toggle(place: string): void
  /** Keeps the server's answer to a retry as the letter's note, and returns its text. */
  onRetried(place: string, answer: unknown): string
}

export function deadLetters(onChange: () => void): DeadLetters {
  const notes = new Map<string, string>()
  const state = {
    list: undefined as DeadLetters['list'],
    place: null as string | null,
    open: undefined as ShownLetter | undefined,
    problem: null as string | null,
    notes,
  }

  /** Ignores an answer that is not wanted any more. */
  async function reading<T>(path: string, show: (answer: T) => void, isWanted = () => true) {
    try {
      const answer = await read<T>(path)
      if (isWanted()) show(answer)
    } catch (error) {
      if (isWanted()) state.problem = error instanceof Error ? error.message : String(error)
    }
    onChange()
  }

  return Object.assign(state, {
    load() {
      void reading<NonNullable<DeadLetters['list']>>('dead-letters', (list) => {
        Object.assign(state, { list, problem: null })
      })
    },
    toggle(given: string) {
      const place = state.place === given ? null : given
      Object.assign(state, { place, open: undefined, problem: null })
      onChange()
      if (place === null) return
      const show = (open: ShownLetter) => Object.assign(state, { open })
      const path = `dead-letter?place=${encodeURIComponent(place)}`
      void reading(path, show, () => state.place === place)
    },
    onRetried(given: string, answer: unknown) {
      const { text } = answer as { text: string }
      notes.set(given, text)
      return text
    },
  })
}
