// The records that the stage guest reads, with defaults for the fields that a test does not set.

import { defaultSettings, policyOf } from '../../../shared/agents/policy/policy.ts'
import type {
  AgentSettings,
  Call,
  CallResult,
  CancelRequested,
  Caps,
  Declaration,
  GuestResult,
  GuestResults,
  GuestRound,
  Intervention,
  Message,
  MessageOf,
  MessageType,
  Policy,
  RoundOutcome,
  Tick,
  TurnExtended,
  TurnFailed,
} from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { callWith, declarationWith, responseWith, resultWith } from '../../support/messages.ts'

export const conversation = 'guest:coder:s1'

export const exec: Declaration = declarationWith({
  description: 'Runs a command.',
  schema:
    '{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}',
  timeoutMs: 60_000,
})

export function policyWith(others: Partial<Policy> = {}, caps: Partial<Caps> = {}): Policy {
  const { version: _, ...policy } = defaultSettings.policy
  return policyOf({
    ...policy,
    caps: { rounds: 1_000, calls: 10_000, wallMs: 86_400_000, tokens: null, ...caps },
    ...others,
  })
}

export const settings: AgentSettings = { ...defaultSettings, policy: policyWith() }

export function callAt(ordinal: number, fields: Partial<Call> = {}): Call {
  return callWith({
    ordinal,
    id: `id-${ordinal}`,
    raw: '{"command":"ls"}',
    source: 'done',
    ...fields,
  })
}

type Round = Partial<Omit<GuestRound, 'type' | 'response'>> & {
  text?: string
  calls?: Partial<Call>[]
  tokens?: number
}

/** The round `key` with one call, or with a text and no call. */
export function round(
  key: string,
  { text = '', calls, tokens = 0, ...of }: Round = {},
): GuestRound {
  const made = (calls ?? (text === '' ? [{}] : [])).map((call, at) => callAt(at, call))
  return {
    type: 'guest-round',
    conversation,
    turnKey: 'u1',
    user: 'list the files',
    key,
    agent: 'coder',
    blocking: true,
    hides: false,
    isShown: false,
    after: null,
    settings,
    policy: settings.policy,
    response: responseOf(key, text, made, tokens),
    offered: ['exec'],
    declarations: [exec],
    ...of,
  }
}

function responseOf(
  attempt: string,
  text: string,
  calls: Call[],
  tokens: number,
): GuestRound['response'] {
  return responseWith({
    attempt,
    text,
    calls,
    stop: calls.length > 0 ? 'calls' : 'end',
    usage: { inputTokens: tokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  })
}

export function results(
  phase: GuestResults['phase'],
  of: Partial<Omit<GuestResults, 'type' | 'phase'>> = {},
): GuestResults {
  return {
    type: 'guest-results',
    conversation,
    turnKey: 'u1',
    user: 'list the files',
    keys: [],
    hiddenKeys: [],
    results: [],
    prompt: '',
    former: null,
    phase,
    requestId: '',
    agent: 'coder',
    blocking: true,
    policy: settings.policy,
    reached: [],
    refusal: '',
    refusalClass: null,
    answered: false,
    unjudged: [],
    ...of,
  }
}

/** The guest is about to ask its model, with these rounds in its history. */
export function request(
  requestId: string,
  keys: string[] = [],
  of: Partial<Omit<GuestResults, 'type' | 'phase'>> = {},
): GuestResults {
  return results('before_model', { requestId, keys, ...of })
}

export function result(key: string, of: Partial<GuestResult> = {}): GuestResult {
  return {
    key,
    callId: 'id-0',
    nth: 0,
    status: 'ok',
    text: 'a.txt',
    shown: null,
    durationMs: 5,
    ...of,
  }
}

type Outcome = Pick<Round, 'text' | 'calls' | 'tokens'> & {
  results?: Partial<CallResult>[]
  intervention?: Intervention | null
  policy?: Policy
}

export function outcome(turn: number, number: number, of: Outcome = {}): RoundOutcome {
  const { response } = round('k.1', of)
  return {
    type: 'round-outcome',
    conversation,
    turn,
    round: number,
    response,
    failure: null,
    results: response.calls.map(({ ordinal }) =>
      resultWith({ ordinal, text: 'a.txt', durationMs: 5, ...of.results?.[ordinal] }),
    ),
    intervention: of.intervention ?? null,
    policy: of.policy ?? settings.policy,
  }
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
    key: 'exec',
    reason: 'the same call failed three times',
    text: action === 'end' ? '' : `text of the ${action}`,
    class: action === 'end' ? 'no_progress' : null,
    evidence: [],
    ...others,
  }
}

export const tick: Tick = { type: 'tick', conversation, unit: conversation }

export function cancels(messageId: string): CancelRequested {
  return { type: 'cancel-requested', conversation, messageId }
}

export function turnFailed(turn: number | null, stage = 'loop-detector'): TurnFailed {
  return { type: 'turn-failed', conversation, turn, stage, reason: 'it threw' }
}

export function extended(turn: number, number: number, until: number): TurnExtended {
  return { type: 'turn-extended', conversation, turn, round: number, until }
}

/** The messages of a type among some records, in order. */
export function all<T extends MessageType>(records: Output[], type: T): MessageOf<T>[] {
  return records
    .map(({ message }) => message)
    .filter((message: Message): message is MessageOf<T> => message.type === type)
}

/** The only message of a type. Fails the test if there are none or several. */
export function only<T extends MessageType>(records: Output[], type: T): MessageOf<T> {
  const found = all(records, type)
  if (found.length !== 1)
    throw new Error(`${found.length} of ${type} among ${names(records).join(', ') || 'no records'}`)
  return found[0] as MessageOf<T>
}

/** `port: type` of each record, in order. */
export function names(records: Output[]): string[] {
  return records.map(({ to, message }) => `${to}: ${message.type}`)
}
