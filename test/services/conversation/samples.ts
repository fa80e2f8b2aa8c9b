// The records that the conversation reads, with defaults for the fields that a test does not set.

import { conversation } from '../../../services/conversation/reducer.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import type {
  AgentSettings,
  Call,
  CallResult,
  CancelRequested,
  Caps,
  Carried,
  Declaration,
  Intervention,
  Message,
  MessageOf,
  MessageType,
  RoundOutcome,
  Tick,
  TurnFailed,
  UserMessage,
} from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { at, given } from '../../support/given.ts'
import { callWith, declarationWith, responseWith, resultWith } from '../../support/messages.ts'

export const fallback = 'Sorry, no answer this time.'

export function settingsWith(
  caps: Partial<Caps> = {},
  others: Partial<AgentSettings> = {},
): AgentSettings {
  const { policy } = defaultSettings
  return {
    ...defaultSettings,
    fallback,
    policy: { ...policy, caps: { ...policy.caps, ...caps } },
    ...others,
  }
}

export const search: Declaration = declarationWith({
  name: 'search',
  description: 'Finds pages.',
  schema: '{"type":"object"}',
  idempotent: true,
  timeoutMs: 20_000,
})

export function says(messageId: string, others: Partial<UserMessage> = {}): UserMessage {
  return {
    type: 'user-message',
    conversation: 'c',
    messageId,
    text: `text of ${messageId}`,
    agent: 'helper',
    settings: settingsWith(),
    declarations: [search],
    ...others,
  }
}

export function cancels(messageId: string, conversation = 'c'): CancelRequested {
  return { type: 'cancel-requested', conversation, messageId }
}

export function tick(conversation = 'c'): Tick {
  return { type: 'tick', conversation, unit: conversation }
}

export function turnFailed(others: Partial<TurnFailed> = {}): TurnFailed {
  return {
    type: 'turn-failed',
    conversation: 'c',
    turn: 0,
    stage: 'accumulator',
    reason: 'it threw',
    ...others,
  }
}

/** The message `m1` opened a turn with these caps. */
export const openedWith = (caps: Partial<Caps>, time = 0) =>
  given(conversation, at(time, says('m1', { settings: settingsWith(caps) })))

/** A turn of a minute at most. */
export const opened = openedWith({ wallMs: 60_000 })

/** After a nudge. */
export const inRoundTwo = opened.when(
  at(10, outcome(0, 1, { calls: 1, intervention: intervention('nudge') })),
)

type Round = { text?: string; calls?: number; tokens?: number; caps?: Partial<Caps> } & Partial<
  Pick<RoundOutcome['response'], 'stop' | 'textCalls'> &
    Pick<RoundOutcome, 'conversation' | 'failure' | 'intervention'>
>

/** The outcome of a round with this text, this number of calls and these tokens. */
export function outcome(turn: number, round: number, of: Round = {}): RoundOutcome {
  const calls = Array.from({ length: of.calls ?? 0 }, (_, ordinal) => callAt(ordinal))
  return {
    type: 'round-outcome',
    conversation: of.conversation ?? 'c',
    turn,
    round,
    response: responseWith({
      attempt: `attempt ${turn}/${round}`,
      text: of.text ?? '',
      calls,
      stop: of.stop ?? (calls.length > 0 ? 'calls' : 'end'),
      usage: {
        inputTokens: of.tokens ?? 0,
        outputTokens: 0,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      },
      textCalls: of.textCalls ?? null,
    }),
    failure: of.failure ?? null,
    results: calls.map(({ ordinal }) => resultAt(ordinal)),
    intervention: of.intervention ?? null,
    policy: settingsWith(of.caps).policy,
  }
}

function callAt(ordinal: number): Call {
  return callWith({ ordinal, id: `id-${ordinal}`, name: 'search', raw: '{"for":"x"}' })
}

function resultAt(ordinal: number): CallResult {
  return resultWith({ ordinal, text: 'the same page again', durationMs: 5 })
}

export function intervention(
  action: Intervention['action'],
  others: Partial<Intervention> = {},
): Intervention {
  return {
    action,
    ordinary: false,
    rule: 'identical-failure',
    ruleVersion: 1,
    key: 'search',
    reason: 'the same call failed three times',
    text: action === 'end' ? '' : `text of the ${action}`,
    class: null,
    evidence: [],
    ...others,
  }
}

/** The only message of a type among some records. Fails the test if there are none or several. */
export function only<T extends MessageType>(records: Output[], type: T): MessageOf<T> {
  const found = all(records, type)
  if (found.length !== 1)
    throw new Error(`${found.length} of ${type} among ${names(records).join(', ') || 'no records'}`)
  return found[0] as MessageOf<T>
}

export function all<T extends MessageType>(records: Output[], type: T): MessageOf<T>[] {
  return records
    .map(({ message }) => message)
    .filter((message: Message): message is MessageOf<T> => message.type === type)
}

/** `port: type` of each record, in order. */
export function names(records: Output[]): string[] {
  return records.map(({ to, message }) => `${to}: ${message.type}`)
}

/** The carried among these records, as the conversation reads it. */
export function carriedIn(records: Output[]): Carried {
  return only(records, 'carried')
}
