// The choice of a threshold and of a value, over turns of an agent or of one conversation.

import type { Child } from '../../../../page/kit/html.ts'
import type { WhatIfData } from '../operator-state.ts'
import { polled } from '../parts/poll.ts'
import { whatIfView } from './what-if-view.ts'

/** Without a conversation: the newest turns of the agent. */
export type JudgedTurns = { agent: string; conversation?: string }

export type WhatIfPanel = {
  /** Judges the turns again. */
  judge(turns: JudgedTurns): void
  leave(): void
  /** `keys`: the thresholds. `onSet`: a person wants this value. */
  view(keys: readonly string[], onSet: (key: string, value: string) => void): Child
}

export function whatIfPanel(onChange: () => void): WhatIfPanel {
  const whatIf = polled<WhatIfData>(onChange, null)
  let turns: JudgedTurns | undefined
  let key = 'loop.identicalFailures'
  let place: number | null = null

  function load(): void {
    place = null
    if (turns !== undefined) whatIf.open(`what-if?${new URLSearchParams({ ...turns, key })}`)
  }

  return {
    judge(given) {
      turns = given
      load()
    },
    leave() {
      whatIf.leave()
    },
    view: (keys, onSet) =>
      whatIfView(whatIf, {
        key,
        keys: keys.length === 0 ? [key] : keys,
        place,
        onKey(given) {
          key = given
          load()
        },
        onPlace(given) {
          place = given
          onChange()
        },
        onSet: (value) => onSet(key, value),
      }),
  }
}
