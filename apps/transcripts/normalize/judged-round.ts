// One response, offline: the accumulator folds its events and the validator checks its calls, as
// they do live. Its calls are shown even if the stream was cut.

import { accumulator } from '../../../services/accumulator/reducer.ts'
import { validator } from '../../../services/validator/reducer.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  Declaration,
  PartEvent,
  RoundChecked,
  RoundProposed,
} from '../../../shared/contract/messages.ts'
import { noUsage } from '../../../shared/contract/turn/no-usage.ts'
import { createPlayer } from '../../../shared/runtime/in-memory.ts'
import type { Failed, Finished } from '../../../shared/wire/exchange.ts'

/** A tool as a request offers it. */
export type OfferedTool = { name: string; schema: unknown }

/** `tools` undefined: unknown, so each called tool counts as offered and accepts any object. */
export type StreamedRound = {
  events: PartEvent[]
  ending: Finished | Failed | undefined
  tools: OfferedTool[] | undefined
}

const place = { conversation: 'normalize', turn: 0, round: 1 }
const attempt = 'file'
const expiresAt = Number.MAX_SAFE_INTEGER
/** The round as the validator emits it. A failed response counts as truncated. */
export function judgedRound({ events, ending, tools }: StreamedRound): RoundChecked {
  const proposed = proposedRound({ events, ending, declarations: (tools ?? []).map(declarationOf) })
  const called = [...new Set(proposed.response.calls.map(({ name }) => name))]
  const declarations = (tools ?? called.map((name) => ({ name, schema: { type: 'object' } }))).map(
    declarationOf,
  )
  const round = { ...proposed, declarations, offered: declarations.map(({ name }) => name) }
  const player = createPlayer()
  player.add(validator)
  player.append('rounds-proposed', round)
  return player.settleNow()[0]?.message as RoundChecked
}

/** The tool as a request declares it. */
export function declarationOf({ name, schema }: OfferedTool): Declaration {
  return {
    name,
    description: '',
    schema: JSON.stringify(schema),
    idempotent: false,
    timeoutMs: 1,
    poll: false,
    hints: null,
  }
}

/** `declarations`: the offered tools, which also identify calls in the text. */
function proposedRound({
  events,
  ending,
  declarations,
}: Omit<StreamedRound, 'tools'> & { declarations: Declaration[] }): RoundProposed {
  const offered = declarations.map(({ name }) => name)
  const { stop, finish, usage } =
    ending?.kind === 'finished' ? ending : { stop: 'cut' as const, finish: '', usage: noUsage }
  const opened = { type: 'model-opened' as const, ...place, offered, expiresAt }
  const part = { type: 'part' as const, ...place, attempt, i: 0, events }
  const stamped = {
    declarations,
    agent: 'normalize',
    policy: defaultPolicy,
    callsLeft: limits.turnCallsMax,
    expiresAt,
    // Shows all calls that the response holds, natively or as text.
    callsAsText: false,
    textCalls: 'run' as const,
    echoOf: null,
    rest: [],
    failure: null,
  }
  const finished = {
    type: 'model-finished' as const,
    ...place,
    attempt,
    parts: 1,
    finish,
    stop,
    usage,
    ...stamped,
  }

  const player = createPlayer()
  player.add(accumulator)
  for (const message of [opened, part, finished]) player.append('model-deltas', message)
  return player.settleNow()[0]?.message as RoundProposed
}
