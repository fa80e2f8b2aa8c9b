// The dead letters as far as the page has read them: the list, and the open one with its record.

import type { ListedLetter, ShownLetter } from '../../../history/dead-letters/list.ts'
import { read, send } from './server.ts'

export type DeadLetters = {
  /** The newest first. Undefined: not read yet. */
  readonly list: { letters: ListedLetter[]; total: number } | undefined
  /** The place of the open letter. Null: none. */
  readonly place: string | null
  readonly open: ShownLetter | undefined
  /** The open letter waits for a confirmation of its retry. */
  readonly isConfirming: boolean
  readonly isBusy: boolean
  readonly problem: string | null
  /** The results of retries, by place. */
  readonly notes: ReadonlyMap<string, string>
  load(): void
  /** Opens a letter, or closes it if it is open. */
  toggle(place: string): void
  confirm(isConfirming: boolean): void
  retry(): void
}

export function deadLetters(onChange: () => void): DeadLetters {
  let list: DeadLetters['list']
  let place: string | null = null
  let open: ShownLetter | undefined
  let isConfirming = false
  let isBusy = false
  let problem: string | null = null
  const notes = new Map<string, string>()

  function failed(error: unknown): void {
    problem = error instanceof Error ? error.message : String(error)
  }

  async function load(): Promise<void> {
    try {
      list = await read<NonNullable<typeof list>>('dead-letters')
      problem = null
    } catch (error) {
      failed(error)
    }
    onChange()
  }

  async function show(given: string): Promise<void> {
    try {
      const shown = await read<ShownLetter>(`dead-letter?place=${encodeURIComponent(given)}`)
      if (place === given) open = shown
    } catch (error) {
      if (place === given) failed(error)
    }
    onChange()
  }

  async function retry(given: string): Promise<void> {
    isBusy = true
    onChange()
    try {
      const { text } = await send<{ text: string }>('retry-dead-letter', { place: given })
      notes.set(given, text)
    } catch (error) {
      notes.set(given, error instanceof Error ? error.message : String(error))
    }
    isBusy = false
    isConfirming = false
    onChange()
  }

  return {
    get list() {
      return list
    },
    get place() {
      return place
    },
    get open() {
      return open
    },
    get isConfirming() {
      return isConfirming
    },
    get isBusy() {
      return isBusy
    },
    get problem() {
      return problem
    },
    notes,
    load: () => void load(),
    toggle(given) {
      place = place === given ? null : given
      open = undefined
      isConfirming = false
      problem = null
      if (place !== null) void show(given)
      onChange()
    },
    confirm(given) {
      isConfirming = given
      onChange()
    },
    retry() {
      if (place !== null && !isBusy) void retry(place)
    },
  }
}
