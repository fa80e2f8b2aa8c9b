// The reasons of waiting calls: the user's message and the model's last words, read one after the other.

import { touch } from '../../../../../shared/lib/recency.ts'
import type { CallContext, WaitingCall } from '../console-state.ts'
import { read } from '../parts/server.ts'

export type CallReasons = {
  /** Reads the reason at the first call. Undefined: it is not read yet. */
  of(call: WaitingCall): CallContext | undefined
}

/** The reasons that are kept, the newest ones. */
const reasonsMax = 500

const none: CallContext = { question: null, words: null }

export function callReasons(onChange: () => void): CallReasons {
  const known = new Map<string, CallContext | undefined>()
  let reading = Promise.resolve()

  async function load(key: string, query: URLSearchParams): Promise<void> {
    known.set(key, await read<CallContext>(`call-context?${query}`).catch(() => none))
    onChange()
  }

  return {
    of({ conversation, turn, round }) {
      const query = new URLSearchParams({ conversation, turn: `${turn}`, round: `${round}` })
      const key = `${query}`
      if (known.has(key)) return known.get(key)
      touch(known, key, undefined, reasonsMax)
      reading = reading.then(() => load(key, query))
      return undefined
    },
  }
}
