// The facts that a guest's format cannot show. A trace is judged as the format shows it, or it is left
// out with the reason.

import type { Scenario } from '../../apps/replay/judge/scenario.ts'
import type { GuestFormat } from '../../client/guard/guest-conversation.ts'
import { readsAsError } from '../../shared/transcript/json-fields.ts'
import type { Transcript } from '../../shared/transcript/transcript.ts'
import { allJudged } from '../support/traces.ts'

/** Formats whose results have no field for an error. Their readers go by the text. */
const withoutErrors: readonly GuestFormat[] = ['openai-chat', 'openai-responses', 'openai-agents']
/** Formats whose history is a list of items, in which an empty response has none. */
const ofItems: readonly GuestFormat[] = ['openai-responses', 'openai-agents']

/** By scenario: all formats without errors show the same trace. */
const scenariosWithoutErrors = new WeakMap<Scenario, Scenario>()

/** The trace with the outcomes that the format shows. */
export function shownIn(format: GuestFormat, scenario: Scenario): Scenario {
  if (!withoutErrors.includes(format)) return scenario
  const shown = scenariosWithoutErrors.get(scenario) ?? withoutErrorsIn(scenario)
  scenariosWithoutErrors.set(scenario, shown)
  return shown
}

function withoutErrorsIn(scenario: Scenario): Scenario {
  const steps = scenario.steps.map((step) =>
    step.kind === 'tool'
      ? { ...step, outcome: readsAsError(step.result) ? ('error' as const) : ('ok' as const) }
      : step,
  )
  return { ...scenario, steps }
}

/**
 * The trace without empty responses after the first end of its turn: there the proxy gives its own
 * answer, and the guest's next history is all that it sees.
 */
export function withoutSilenceAtEnd(format: GuestFormat, scenario: Scenario): Scenario {
  if (!ofItems.includes(format)) return scenario
  const end = allJudged(scenario).find(({ action }) => action === 'end')?.at
  if (end === undefined) return scenario
  let at = 0
  const steps = scenario.steps.filter((step) => {
    if (step.kind === 'user') return true
    at += 1
    return at <= end || step.kind === 'tool' || (step.kind === 'text' && step.text !== '')
  })
  return { ...scenario, steps }
}

/** Why the format cannot show the trace. Undefined: it can. */
export function hiddenIn(format: GuestFormat, { turns }: Transcript): string | undefined {
  const responses = turns.flatMap((turn) => turn.responses)
  if (
    ofItems.includes(format) &&
    responses.some(({ calls, text }) => calls.length === 0 && text === '')
  )
    return 'an empty response has no item in the history'
  return undefined
}

/** Why a history alone, without the answers, cannot show the trace. Undefined: it can. */
export function hiddenInHistory({ turns }: Transcript): string | undefined {
  const isCut = turns.some(({ responses }) => responses.some(({ finish }) => finish === 'length'))
  return isCut ? 'a history does not name the end of a response' : undefined
}
