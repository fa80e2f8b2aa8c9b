import { describe, expect, it } from '@jest/globals'
import { pageOf } from '../../../../apps/history/inspect/print-timeline.ts'
import { timelineOf } from '../../../../apps/history/inspect/timeline-of.ts'
import { defaultPolicy, policyOf } from '../../../../shared/agents/policy/policy.ts'
import {
  conversationLog,
  exec,
  nudge,
  response,
  result,
} from '../../../shared/view/conversation-log.ts'

type Log = ReturnType<typeof conversationLog>

function shown(log: Log, { full = false, reasoning = false, columns = 80 } = {}): string {
  const { lines } = pageOf(timelineOf('c', log.records, { reasoning }), { columns, full })
  return `\n${lines.map(({ text }) => text).join('\n')}\n`
}

/** A turn with a first round that has everything, and a second round that is open. */
function busyTurn(): Log {
  const log = conversationLog()
  const calls = [
    exec(),
    exec({ ordinal: 1, raw: '', source: 'none', problem: 'no_arguments' }),
    exec({ ordinal: 2, raw: '{"a":', problem: 'invalid_json' }),
  ]
  const reply = response({
    attempt: 'a2',
    text: 'I look.\nThen I tell.',
    reasoning: '[{"type":"thinking"}]',
    calls,
    stop: 'calls',
  })
  const refused = result({
    ordinal: 1,
    status: 'denied',
    text: "missing 'command'",
    reason: 'no arguments came',
    durationMs: 0,
  })
  const broken = result({
    ordinal: 2,
    status: 'denied',
    text: 'not JSON',
    reason: 'the arguments are not valid JSON',
    durationMs: 0,
  })
  log.begin({ text: 'List the files in my project, please.' })
  log.ask(1)
  log.attempt(1, 'a1')
  log.attemptFailed(1, 'a1')
  log.attempt(1, 'a2')
  log.part(1, 'a2', 'I should look.')
  log.answer(1, reply)
  log.check(1, reply, [
    {
      ordinal: 1,
      code: 'no_arguments',
      reason: 'no arguments came',
      text: 'x',
      requiredFields: ['command'],
    },
    {
      ordinal: 2,
      code: 'bad_arguments',
      reason: 'the arguments are not valid JSON',
      text: 'x',
      requiredFields: [],
    },
  ])
  log.clear(1, calls, [refused, broken])
  log.claim(1)
  log.start(1)
  log.outcome(1, result({ text: 'a.txt\nb.txt' }))
  log.executed(1, [result({ text: 'a.txt\nb.txt' }), refused, broken])
  log.conclude(1, reply, [result({ text: 'a.txt\nb.txt' }), refused, broken], nudge)
  log.ask(2, { nudge: nudge.text, callsLeft: 0 })
  log.attempt(2, 'a3')
  return log
}

describe('the page of a timeline', () => {
  it('marks a call that waits', () => {
    const log = conversationLog()
    const sleeping = response({ calls: [exec({ raw: '{"command":"sleep 30"}' })], stop: 'calls' })
    log.begin()
    log.ask(1)
    log.answer(1, sleeping)
    log.check(1, sleeping)
    log.clear(1, sleeping.calls)
    log.conclude(1, sleeping, [result({ text: '' })])
    expect(shown(log)).toContain('a wait, which is no repetition')
    expect(shown(busyTurn())).not.toContain('a wait')
  })

  it('reads from top to bottom', () => {
    expect(shown(busyTurn())).toBe(`
Conversation c: open, 1 turn

Turn 1, agent agent, 1970-01-01 00:00:01.003 UTC
  message   m1; offset 0
  | List the files in my project, please.

  Round 1, after 1 ms: model 7 ms, checks 4 ms, tools 7 ms
    policy    ${defaultPolicy.version}: as by default
    attempt 1 failed after 1 ms (transient): the provider answered 529:
              overloaded; another may follow 1.0 s later
    attempt 2 answered after 2 ms
    thinks    14 characters, 21 bytes as sent; --reasoning shows it
    says
      | I look.
      | Then I tell.
    tokens    10 in, 5 out; stopped: calls, the provider says end_turn
    call 0    exec {"command":"ls"}
      try 1: claimed after 1 ms, started after 2 ms, ended (ok) after 3 ms
      ok after 40 ms
      | a.txt
      | b.txt
    call 1    exec
      no arguments arrived
      denied before execution (no_arguments): no arguments came
      | missing 'command'
    call 2    exec {"a":
      arguments arrived; they are not JSON
      denied before execution (bad_arguments): the arguments are not valid JSON
      | not JSON
    detector  nudge (rule identical-failure, version 5): exec({}) failed in 3
              rounds
      key       exec({})
      evidence  round 1 call 0
      ended by  a success of the same operation, or a new change

  Round 2, after 21 ms
    limited   text only: a last request to the model, without tools
    shown     with this request:
      | SYSTEM INTERVENTION
    attempt 1 running, no output yet
    open      waits for the model

  notable   2 calls denied before running
  open: no end yet
`)
  })

  it('shows each change of the policy, and keeps shadow interventions apart', () => {
    const { version: _, ...content } = defaultPolicy
    const policy = policyOf({
      ...content,
      caps: { ...content.caps, tokens: 500 },
      shadowed: ['identical-failure'],
    })
    const log = conversationLog({ policy })
    const reply = response({ calls: [exec()] })
    log.begin()
    for (const round of [1, 2]) {
      log.ask(round)
      log.answer(round, reply)
      log.conclude(round, reply, [result({ status: 'error' })])
    }
    log.shadow(2, nudge)
    const page = shown(log)
    expect(page.match(/policy .*/g)).toEqual([
      `policy    ${policy.version}: caps.tokens 500, rule.identical-failure shadow`,
    ])
    expect(page).toContain('in shadow nudge (rule identical-failure, version 5): exec({})')
    expect(page).not.toContain('detector')
    expect(page).not.toContain('SYSTEM INTERVENTION')
  })

  it('has no line longer than 80 columns or the given width', () => {
    const log = conversationLog()
    const reply = response({
      text: `${'word '.repeat(100)}${'x'.repeat(500)} 日本語${'語'.repeat(100)}`,
    })
    log.begin({ text: 'x'.repeat(1_000) })
    log.ask(1)
    log.answer(1, reply)
    log.conclude(1, reply)
    for (const columns of [40, 80, 100]) {
      const widths = shown(log, { columns, full: true })
        .split('\n')
        .map((line) => line.replaceAll(/[日本語]/g, 'xx').length)
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns)
    }
  })

  it('cuts long texts with a note, and shows all of them with --full', () => {
    const log = conversationLog()
    log.begin({ text: Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n') })
    expect(shown(log)).toContain(
      '  | line 11\n  | … 149 characters in 20 lines; --full shows all\n',
    )
    expect(shown(log, { full: true })).toContain('  | line 19\n')
    const long = conversationLog()
    long.begin({ text: 'x'.repeat(10_000) })
    expect(shown(long)).toContain('  | … 10000 characters in 1 line; --full shows all\n')
    expect(shown(long).length).toBeLessThan(1_000)
  })

  it("shows the model's reasoning on request", () => {
    expect(shown(busyTurn(), { reasoning: true })).toContain(
      '    thinks    14 characters, 21 bytes as sent\n      | I should look.\n',
    )
  })

  it('shows all control characters as visible text, wherever they come from', () => {
    const evil = '\u001b]0;owned\u0007\u202e'
    const log = conversationLog()
    const call = exec({ name: `exec${evil}`, raw: `{"command":"${evil}"}` })
    const reply = response({ text: evil, calls: [call], finish: evil, stop: 'other' })
    const failed = result({ status: 'error', text: evil, reason: evil })
    log.begin({ text: evil, messageId: evil })
    log.ask(1, { nudge: evil })
    log.attempt(1)
    log.answer(1, reply)
    log.clear(1, [call])
    log.claim(1)
    log.outcome(1, failed)
    log.executed(1, [failed])
    log.conclude(1, reply, [failed], { ...nudge, key: evil, reason: evil, text: evil })
    log.end(`${evil}!`, { messageId: evil, outcome: 'failed', reason: evil })
    const page = shown(log, { full: true })
    expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(page.split('\\u{1b}]0;owned\\u{7}\\u{202e}').length).toBeGreaterThan(10)
  })
})
