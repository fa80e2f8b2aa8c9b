// Gathers several requests for the same work into one run, after the current I/O events.

/** The result schedules `run`. Further calls before it runs change nothing. */
export function onceSoon(run: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      run()
    })
  }
}
