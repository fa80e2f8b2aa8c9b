// Keys that work anywhere on the page. Ignores keys in a text field or with a modifier.

export type Actions = {
  next: () => void
  previous: () => void
  nextRemarkable: () => void
  previousRemarkable: () => void
  search: () => void
  help: () => void
  /** False: there was nothing to end. */
  clear: () => boolean
}

/** Returns a function that removes the listener. */
export function bindKeys(actions: Actions): () => void {
  const byKey: Record<string, () => void> = {
    j: actions.next,
    k: actions.previous,
    n: actions.nextRemarkable,
    p: actions.previousRemarkable,
    '/': actions.search,
    '?': actions.help,
  }

  function pressed(event: KeyboardEvent): void {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      document.querySelector('dialog[open]') !== null
    )
      return
    const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'search'
    if (event.key === 'Escape') {
      actions.clear()
      if (isTyping) event.target.blur()
      return
    }
    const action = Object.hasOwn(byKey, event.key) ? byKey[event.key] : undefined
    if (isTyping || action === undefined) return
    event.preventDefault()
    action()
  }

  document.addEventListener('keydown', pressed)
  return () => document.removeEventListener('keydown', pressed)
}
