import { describe, expect, it } from '@jest/globals'
import { pageOf } from '../../../apps/history/inspect/print-timeline.ts'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import type { CallVerdict, GuardAnswer, GuardInForce } from '../../../shared/contract/messages.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import { verdictWith } from '../../support/messages.ts'
import { conversationLog, declaration, exec, response, result } from './conversation-log.ts'

const place = { conversation: 'c', turn: 0, round: 1 }
const calls = [exec(), exec({ ordinal: 1, id: 'toolu_2' })]
const pass = (ordinal: number): CallVerdict => verdictWith({ ordinal })
const reject = (ordinal: number): CallVerdict => ({
  ordinal,
  verdict: 'deny',
  code: 'removes',
  text: 'Nothing may be removed.',
  evidence: 'rm',
})

function guard(
  name: string,
  mode: 'enforce' | 'shadow' = 'enforce',
  onTimeout: 'deny' | 'allow' = 'deny',
): GuardInForce {
  return {
    name,
    version: '1',
    tools: [{ pattern: 'exec', mode }],
    deadlineMs: 5_000,
    onTimeout,
    rules: null,
  }
}

/** A round with two calls, cleared at 2000. */
function guardedRound(...guards: GuardInForce[]) {
  const log = conversationLog()
  const reply = response({ calls, stop: 'calls' })
  log.begin()
  log.ask(1)
  log.attempt(1)
  log.answer(1, reply)
  log.check(1, reply)
  const policy = { ...defaultPolicy, guards }
  log.write(
    'rounds-cleared',
    {
      type: 'round-cleared',
      ...place,
      calls,
      decided: [],
      declarations: [declaration],
      agent: 'agent',
      policy,
      expiresAt: 1e9,
      extendedTo: null,
    },
    { at: 2_000 },
  )
  return {
    ...log,
    says(name: string, verdicts: CallVerdict[], at: number) {
      const message = {
        type: 'guard-verdict' as const,
        ...place,
        guard: name,
        version: '2',
        verdicts,
        intervention: null,
      }
      log.write(
        guardTopicName(name) as never,
        { ...message, clearedAt: 2_000, judgedMs: 3, enforces: [], deadlineMs: 5_000 },
        { at },
      )
    },
    counts(name: string, answer: GuardAnswer, verdicts: CallVerdict[], at: number) {
      log.write(
        'activity',
        {
          type: 'guard-verdict-given',
          ...place,
          guard: name,
          version: '2',
          answer,
          verdicts,
          waitedMs: at - 2_000,
        },
        { at },
      )
    },
  }
}

const roundIn = ({ records }: ReturnType<typeof guardedRound>) =>
  timelineOf('c', records, { reasoning: false }).turns[0]?.rounds[0]
const pageIn = ({ records }: ReturnType<typeof guardedRound>) =>
  pageOf(timelineOf('c', records, { reasoning: false }), { columns: 100, full: true })
    .lines.map(({ text }) => text)
    .join('\n')

describe('the guards of a round', () => {
  it('are shown with their verdicts, durations, and the verdict that stopped a call', () => {
    const log = guardedRound(guard('shell'), guard('watcher', 'shadow'))
    log.says('shell', [pass(0), reject(1)], 2_040)
    log.counts('shell', 'verdicts', [pass(0), reject(1)], 2_045)
    log.says('watcher', [reject(0), pass(1)], 2_100)
    log.executed(1, [
      result(),
      result({
        ordinal: 1,
        status: 'denied',
        reason: 'vetoed by guard shell: removes',
        guard: 'shell',
      }),
    ])
    expect(roundIn(log)?.guards).toMatchObject([
      {
        name: 'shell',
        version: '2',
        answer: 'verdicts',
        answeredAt: 2_040,
        tookMs: 40,
        judgedMs: 3,
        calls: [
          { ordinal: 0, mode: 'enforce', verdict: 'allow', stopped: false },
          { ordinal: 1, mode: 'enforce', verdict: 'deny', code: 'removes', stopped: true },
        ],
      },
      {
        name: 'watcher',
        answer: 'verdicts',
        tookMs: 100,
        calls: [{ mode: 'shadow', verdict: 'deny', stopped: false }, { verdict: 'allow' }],
      },
    ])
    const page = pageIn(log)
    expect(page).toMatch(/guard +shell 2: answered after 40 ms, of which 3 ms judging/)
    expect(page).toContain('call 1: denied (removes); this stopped it')
    expect(page).toMatch(/guard +watcher 2, a shadow: answered after/)
    expect(page).toContain('call 0: would have been denied (removes)')
  })

  it('are shown as silent, as late, or with the calls that they let through', () => {
    const silent = guardedRound(guard('shell', 'enforce', 'allow'))
    silent.counts(
      'shell',
      'silent',
      [0, 1].map((ordinal) => ({ ...pass(ordinal), code: 'guard.silent' })),
      7_000,
    )
    expect(roundIn(silent)?.guards).toMatchObject([
      { answer: 'silent', tookMs: null, calls: [{ verdict: 'allow' }, { verdict: 'allow' }] },
    ])
    expect(pageIn(silent)).toContain(
      'did not answer within 5.0 s; 2 calls went on without its verdict',
    )
    silent.says('shell', [reject(0), pass(1)], 9_000)
    expect(roundIn(silent)?.guards).toMatchObject([
      { answer: 'late', tookMs: 7_000, calls: [{ verdict: 'allow', stopped: false }, {}] },
    ])
  })

  it('are shown with a request for approval, in force and as a shadow', () => {
    const ask = (ordinal: number) => ({ ...reject(ordinal), verdict: 'ask' as const })
    const log = guardedRound(guard('flow'))
    log.says('flow', [ask(0), pass(1)], 2_040)
    expect(pageIn(log)).toContain("call 0: needs a person's approval")
    const shadow = guardedRound(guard('flow', 'shadow'))
    shadow.says('flow', [ask(0), pass(1)], 2_040)
    expect(pageIn(shadow)).toContain('call 0: would have needed approval')
  })

  it('are shown as those that a round waits for', () => {
    const log = guardedRound(guard('approval'))
    expect(roundIn(log)?.guards).toMatchObject([
      { name: 'approval', answer: 'none', calls: [{ verdict: null }, { verdict: null }] },
    ])
    expect(pageIn(log)).toContain('waits for guard approval')
  })

  it('are shown with the person who decided and the delay, or as undecided', () => {
    const log = guardedRound({ ...guard('approval'), rules: '[]' })
    const calls = [0, 1].map((ordinal) => ({
      ordinal,
      name: 'exec',
      arguments: '{}',
      id: `id-${ordinal}`,
      hash: 'h',
      rule: 'production',
      source: null,
      program: null,
      question: null,
    }))
    log.write(
      'activity',
      { type: 'approval-pending', ...place, calls, until: 9_000 },
      { at: 2_010 },
    )
    const decided = {
      ordinal: 0,
      name: 'exec',
      id: 'id-0',
      outcome: 'deny' as const,
      by: 'ann',
      reason: 'no',
      waitedMs: 3_000,
      identity: 'claimed' as const,
    }
    log.write('activity', { type: 'approval-decided', ...place, ...decided }, { at: 5_000 })
    expect(roundIn(log)?.guards).toMatchObject([
      {
        calls: [
          {
            approval: {
              id: 'id-0',
              rule: 'production',
              outcome: 'deny',
              by: 'ann',
              reason: 'no',
              at: 5_000,
              waitedMs: 3_000,
            },
          },
          { approval: { id: 'id-1', outcome: 'pending', at: null } },
        ],
      },
    ])
    expect(pageIn(log)).toContain(
      'call 0: denied by ann (claimed) after 3.0 s (production, id-0): no',
    )
    expect(pageIn(log)).toContain('call 1: waits for a person (production) as id-1')
  })

  it('are absent if none was in force for its tools', () => {
    expect(
      roundIn(guardedRound({ ...guard('other'), tools: [{ pattern: 'pay', mode: 'enforce' }] }))
        ?.guards,
    ).toEqual([])
  })
})
