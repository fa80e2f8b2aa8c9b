// Watches the events of a running response for text without end, in the visible text and in the
// thinking. Live attempts and `weir normalize` use the same watch.

import type { PartEvent } from '../../../shared/contract/messages.ts'
import { shortened } from '../../../shared/lib/text-cut.ts'
import { type Failed, failedBy } from '../../../shared/wire/exchange.ts'
import { type Repetition, RepetitionWatch } from './repetition-watch.ts'

export class AnswerWatch {
  private readonly said: RepetitionWatch
  private readonly thought: RepetitionWatch

  /** `known`: the results of this turn's tools, oldest first. */
  constructor(known: () => string[]) {
    this.said = new RepetitionWatch(known)
    this.thought = new RepetitionWatch(known)
  }

  /** Adds events. Returns the failure of the attempt; undefined: nothing repeats too long so far. */
  add(events: PartEvent[]): Failed | undefined {
    for (const { kind, text } of events) {
      const found = this.watchOf(kind)?.add(text)
      if (found !== undefined) return degenerate(found)
    }
    return undefined
  }

  private watchOf(kind: PartEvent['kind']): RepetitionWatch | undefined {
    if (kind === 'text' || kind === 'refusal') return this.said
    return kind === 'reasoning' ? this.thought : undefined
  }
}

/** With a reminder, the next attempt may succeed. */
function degenerate({ unit, times }: Repetition): Failed {
  const quoted = JSON.stringify(shortened(unit, quoteBytesMax))
  const reason = `the response was stopped: it repeated the same text ${times} times in a row: ${quoted}`
  return failedBy('provider.stream', 'degenerate', reason, true)
}

const quoteBytesMax = 80
