// A start that needs something that is open already.

type Opened = { close(): Promise<void> }

/** Closes `opened` if the start fails. The first error explains more than one of `close`. */
export async function closedOnFailure<T>(opened: Opened, start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    await opened.close().catch(() => {})
    throw error
  }
}
