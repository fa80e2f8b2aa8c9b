// Every end of a turn has a class, from which its caller knows the next action.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { accumulator } from '../../services/accumulator/reducer.ts'
import { conversation } from '../../services/conversation/reducer.ts'
import { llmGateway } from '../../services/llm-gateway/reducer.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  FailureClass,
  Intervention,
  TurnFinished,
  UserMessage,
} from '../../shared/contract/messages.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Failed } from '../../shared/wire/exchange.ts'
import {
  brokenStream,
  connectionFailure,
  contextFull,
  httpFailure,
  interruptionOf,
  reportedError,
} from '../../shared/wire/faults/provider-errors.ts'
import { at, given } from '../support/given.ts'
import { modelRequest } from '../support/messages.ts'
import {
  cancels,
  intervention,
  only,
  outcome,
  says,
  settingsWith,
  tick,
  turnFailed,
} from './conversation/samples.ts'

const root = join(import.meta.dirname, '../..')
const { symbols } = JSON.parse(
  readFileSync(join(root, 'schemas/types/failure-class.avsc'), 'utf8'),
) as { symbols: FailureClass[] }

const classOf = ({ class: failureClass }: TurnFinished): FailureClass | null => failureClass

/** The class of a turn with these caps and these rounds. */
function ending(
  rounds: Parameters<typeof outcome>[2][],
  caps: Parameters<typeof settingsWith>[0] = {},
): FailureClass | null {
  let folded = given(conversation, at(0, says('m', { settings: settingsWith(caps) })))
  for (const [n, round] of rounds.entries())
    folded = folded.when(at(n + 1, outcome(0, n + 1, { caps, ...round })))
  return classOf(only(folded.records, 'turn-finished'))
}

const ends = (fields: Partial<Intervention> = {}) => intervention('end', fields)
const textOnly = intervention('text_only')

describe('a turn', () => {
  it.each<[string, FailureClass | null, () => FailureClass | null]>([
    ['was answered', null, () => ending([{ text: 'Done.' }])],
    [
      'was answered at a cap',
      null,
      () => ending([{ calls: 1 }, { text: 'So far.' }], { rounds: 1 }),
    ],
    ['came to its cap on rounds', 'budget', () => ending([{ calls: 1 }, {}], { rounds: 1 })],
    [
      'came to its cap on calls',
      'budget',
      () => ending([{ calls: 2 }, { calls: 1 }], { calls: 2 }),
    ],
    [
      'came to its cap on tokens',
      'budget',
      () => ending([{ calls: 1, tokens: 11 }], { tokens: 10 }),
    ],
    [
      'ran out of time',
      'budget',
      () => classOf(only(opened(60_000).when(at(60_000, tick())).records, 'turn-finished')),
    ],
    [
      'was stopped by the loop-detector',
      'no_progress',
      () => ending([{ calls: 1, intervention: ends() }]),
    ],
    [
      'was stopped for schema failures',
      'deterministic',
      () => ending([{ calls: 1, intervention: ends({ class: 'deterministic' }) }]),
    ],
    [
      'had a last request without tools and no text',
      'no_progress',
      () => ending([{ calls: 1, intervention: textOnly }, {}]),
    ],
    [
      'had a last request without tools that was refused',
      'refused',
      () => ending([{ calls: 1, intervention: textOnly }, { stop: 'refusal' }]),
    ],
    ['was refused by the model', 'refused', () => ending([{ stop: 'refusal' }])],
    [
      'was cancelled',
      'cancelled',
      () => classOf(only(opened().when(cancels('m')).records, 'turn-finished')),
    ],
    [
      'was cancelled while it waited',
      'cancelled',
      () => classOf(only(opened().when(says('m2')).when(cancels('m2')).records, 'turn-finished')),
    ],
    [
      'was refused at admission',
      'deterministic',
      () => refusedWith({ text: 'x'.repeat(limits.userMessageBytesMax + 1) }),
    ],
    ['met a full queue', 'transient', () => classOf(only(queueFull().records, 'turn-finished'))],
    [
      'met a stage that failed',
      'internal',
      () => classOf(only(opened().when(turnFailed()).records, 'turn-finished')),
    ],
    [
      'met its own stage failing',
      'internal',
      () => classOf(only(opened().whenFails(outcome(0, 1)).records, 'turn-finished')),
    ],
  ])('that %s has the class %s', (_, failureClass, of) => expect(of()).toBe(failureClass))

  it.each(symbols)(
    'whose model request failed has the class from the gateway (%s)',
    (failureClass) =>
      expect(ending([{ failure: { class: failureClass, reason: 'no' } }])).toBe(failureClass),
  )
})

function opened(wallMs = 1_800_000) {
  return given(conversation, at(0, says('m', { settings: settingsWith({ wallMs }) })))
}

function refusedWith(fields: Partial<UserMessage>): FailureClass | null {
  return classOf(only(given(conversation, says('m', fields)).records, 'turn-finished'))
}

function queueFull() {
  let folded = opened()
  for (let n = 0; n <= limits.queueMessagesMax; n += 1) folded = folded.when(says(`waiting ${n}`))
  return folded
}

const http = (status: number, said = 'no', words: unknown[] = []) =>
  httpFailure({ status, headers: undefined, words, statement: said }, '')
const reported = (message: string, refused: boolean) =>
  reportedError({ type: 'some_error', words: [], message, refused })
const system = (code: string) => Object.assign(new Error(code), { code })

type Failing = [string, FailureClass, boolean, Failed]

describe('an attempt', () => {
  it.each<Failing>([
    ...[400, 401, 402, 403, 404, 422].map(
      (status): Failing => [`is answered ${status}`, 'refused', false, http(status)],
    ),
    ...[408, 409, 429, 500, 502, 503, 529].map(
      (status): Failing => [`is answered ${status}`, 'transient', true, http(status)],
    ),
    ['is answered 413', 'context_full', false, http(413)],
    [
      'is too long by its message',
      'context_full',
      false,
      http(400, 'prompt is too long: 9 tokens > 8 maximum'),
    ],
    [
      'is too long according to a stream error',
      'context_full',
      false,
      reported('maximum context length is 8 tokens', true),
    ],
    ['is too long by our own bound', 'context_full', false, contextFull('16 MiB')],
    ['has no credit left', 'refused', false, http(429, 'no', ['insufficient_quota'])],
    ['has content that is declined', 'refused', false, http(400, 'Content Exists Risk')],
    [
      'has content that is declined in the middle',
      'refused',
      false,
      reported('Output blocked by content filtering policy', false),
    ],
    ['meets an overload in its stream', 'transient', true, reported('Overloaded', false)],
    ['is refused in its stream', 'refused', false, reported('no such model', true)],
    ['is refused a connection', 'transient', true, connectionFailure(system('ECONNREFUSED'))],
    ['cannot be made', 'internal', false, connectionFailure(new TypeError('Invalid URL'))],
    ['loses its connection', 'transient', true, interruptionOf(system('ECONNRESET'))],
    [
      'brings a line without an end',
      'provider',
      true,
      interruptionOf(new WeirError('provider.stream', 'too long')),
    ],
    ['brings text that is not JSON', 'transient', true, brokenStream('no JSON')],
  ])('that %s has the class %s (again: %s)', (_, failureClass, retryable, failed) =>
    expect(failed).toMatchObject({ class: failureClass, retryable }),
  )
})

describe('a round', () => {
  const request = modelRequest()
  const { conversation: key, turn, round } = request
  const open = given(llmGateway, at(1, request))
  const cancel = {
    type: 'cancel',
    conversation: key,
    turn,
    round,
    expiresAt: request.expiresAt,
  } as const

  it('has the class budget if it expires before the model answers, and the class cancelled after a cancel', () => {
    const unit = JSON.stringify([key, turn, round])
    const late = open.when(at(request.expiresAt, { type: 'tick', conversation: key, unit }))
    expect(late.to('response')).toMatchObject([{ failure: { class: 'budget' } }])
    expect(open.when(cancel).to('response')).toMatchObject([{ failure: { class: 'cancelled' } }])
  })

  it('has the class transient if a part of its response is missing in the log', () => {
    const finished = open.when({
      ...{
        type: 'attempt-finished',
        conversation: key,
        turn,
        round,
        attempt: 'a',
        parts: 2,
        finish: 'stop',
        stop: 'end',
        declarations: [],
        ...{ callsAsText: false, textCalls: null, echoOf: null, rest: [] },
      },
      ...{
        usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
        policy: request.settings.policy,
      },
      ...{ callsAsText: false, textCalls: null, echoOf: null, rest: [] },
    })
    const [modelOpened] = open.to('response')
    const [modelFinished] = finished.to('response')
    const folded = given(accumulator, modelOpened as never, modelFinished as never)
    expect(folded.to('next')).toMatchObject([
      { type: 'round-proposed', failure: { class: 'transient' } },
    ])
  })
})

it('docs/start/run-an-agent.md lists every class with the next action for callers', () => {
  const page = readFileSync(join(root, 'docs/start/run-an-agent.md'), 'utf8')
  const [, section = ''] = page.split('| class |')
  expect([...section.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name)).toEqual(symbols)
})
