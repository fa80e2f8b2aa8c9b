// The front of hooks, with a scripted guard and a clock that the test moves.

import { setImmediate as nextTask } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { HookAnswer } from '../../../../../apps/http/fronts/hooks/hook-answer.ts'
import { type HookFront, hookFront } from '../../../../../apps/http/fronts/hooks/hook-front.ts'
import { type HookKind, hookPayloadOf } from '../../../../../apps/http/fronts/hooks/hook-payload.ts'
import {
  type HostSessions,
  hookProxyMs,
  hostSessions,
  type JudgedCalls,
} from '../../../../../apps/http/fronts/hooks/host-sessions.ts'
import type {
  CallVerdict,
  GuardSession,
  ReadGuestAnswer,
} from '../../../../../client/guard/guest-conversation.ts'
import { type FakeClock, fakeClock } from '../../../../../client/testing/fake-clock.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import { scriptedGuard } from '../../scripted-guard.ts'

let clock: FakeClock
let sessions: HostSessions
let front: HookFront

beforeEach(() => {
  clock = fakeClock(0)
  sessions = hostSessions(clock)
  front = hookFront({ sessions, clock, log: pino({ level: 'silent' }) })
})

type Hook = (kind: HookKind, body: Record<string, unknown>) => Promise<HookAnswer>

/** Starts a hook. Its call joins no further one once `joined` has resolved. */
function hooksOf(guard: GuardSession, agent = 'guest'): Hook {
  return (kind, body) =>
    front.answer({ agent, guard }, hookPayloadOf(kind, body), new AbortController().signal)
}

async function joined(): Promise<void> {
  await nextTask()
  clock.advance(limits.callJoinMs)
}

async function alone(answer: Promise<HookAnswer>): Promise<HookAnswer> {
  await joined()
  return answer
}

const session = { session_id: 's1', prompt_id: 't1' }
const prompt = (text: string) => ({ ...session, hook_event_name: 'UserPromptSubmit', prompt: text })
const call = (id: string, command = 'ls') => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
})
const pre = (id: string, command?: string) => ({
  ...session,
  hook_event_name: 'PreToolUse',
  ...call(id, command),
})
const post = (id: string, text: string) => ({
  ...session,
  hook_event_name: 'PostToolUse',
  ...call(id),
  tool_response: { stdout: text, stderr: '' },
})
const proxied = { agent: 'guest', session: 's1' }
/** An answer of the proxy with these calls. */
const shownCalls = (...calls: ReturnType<typeof call>[]): JudgedCalls => ({
  placesOf: ({ id, input }) =>
    calls.flatMap((own, at) =>
      own.tool_use_id === id && JSON.stringify(own.tool_input) === JSON.stringify(input)
        ? [at]
        : [],
    ),
})
const failed = (id: string, error: string) => ({
  ...session,
  hook_event_name: 'PostToolUseFailure',
  ...call(id),
  error,
})
const batch = (...calls: [id: string, response: string][]) => ({
  ...session,
  hook_event_name: 'PostToolBatch',
  tool_calls: calls.map(([id, tool_response]) => ({ ...call(id), tool_response })),
})

const run = (callId: string): CallVerdict => ({
  callId,
  name: 'Bash',
  verdict: 'allow',
  text: '',
  code: '',
})
const refuse = (callId: string, text: string): CallVerdict => ({
  ...run(callId),
  verdict: 'deny',
  text,
  code: 'guard.denied',
})
const denied = (permissionDecisionReason: unknown) => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason,
  },
})

/** The ids of the calls of a synthesized answer. */
const idsOf = (answer: unknown): string[] =>
  (answer as ReadGuestAnswer).pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.id] : []))
const runAll = (answer: unknown) => idsOf(answer).map(run)

describe('a hook before a call', () => {
  it('gives no opinion on a call that may run, and never allows one', async () => {
    const hook = hooksOf(scriptedGuard({ after: runAll }))
    expect(await alone(hook('pre', pre('c1')))).toBeUndefined()
  })

  it("asks its own guest, also if another guest has the session's id and the call", async () => {
    const allows = hooksOf(scriptedGuard({ after: runAll }), 'one')
    const denies = hooksOf(scriptedGuard({ after: () => [refuse('c1', 'no')] }), 'other')
    expect(await alone(allows('pre', pre('c1')))).toBeUndefined()
    expect(await alone(denies('pre', pre('c1')))).toEqual(denied('no'))
  })

  it('denies a refused call with the text for the model', async () => {
    const hook = hooksOf(scriptedGuard({ after: () => [refuse('c1', 'Use another folder.')] }))
    expect(await alone(hook('pre', pre('c1')))).toEqual(denied('Use another folder.'))
  })

  it('joins the calls of one message into one round, in the turn that the host names', async () => {
    const guard = scriptedGuard({ after: runAll })
    const hook = hooksOf(guard)
    await hook('prompt', prompt('List both.'))
    const both = Promise.all([hook('pre', pre('c1', 'ls a')), hook('pre', pre('c2', 'ls b'))])
    await joined()
    expect(await both).toEqual([undefined, undefined])
    expect(guard.asked).toEqual([expect.objectContaining({ kind: 'after', id: 's1', turn: 't1' })])
    const [asked] = guard.asked
    expect(asked).toMatchObject({
      answer: {
        request: { pieces: [{ kind: 'user', text: 'List both.' }] },
        pieces: [
          { kind: 'response' },
          { kind: 'call', id: 'c1', name: 'Bash', arguments: '{"command":"ls a"}' },
          { kind: 'call', id: 'c2', name: 'Bash', arguments: '{"command":"ls b"}' },
          { kind: 'ended' },
        ],
      },
    })
  })

  it('judges later calls of a message once the first are decided, and all of them in one round', async () => {
    const { promise: decided, resolve } = Promise.withResolvers<void>()
    const guard = scriptedGuard({
      async after(answer, n) {
        if (n === 1) await decided
        return runAll(answer)
      },
    })
    const hook = hooksOf(guard)
    const first = hook('pre', pre('c1', 'ls a'))
    await joined()
    const second = hook('pre', pre('c2', 'ls b'))
    await joined()
    const third = hook('pre', pre('c3', 'ls c'))
    await joined()
    expect(guard.asked).toHaveLength(1)
    resolve()
    expect(await Promise.all([first, second, third])).toEqual([undefined, undefined, undefined])
    const judged = guard.asked.flatMap((one) => (one.kind === 'after' ? [idsOf(one.answer)] : []))
    expect(judged).toEqual([['c1'], ['c2', 'c3']])
  })

  it('judges a later call of a message while a person decides on the first', async () => {
    const approval = { id: 'a1', hash: 'h1', until: 60_000 }
    const guard = scriptedGuard({
      after: (answer, n) =>
        n === 1 ? [{ ...run('c1'), verdict: 'pending', approval }] : runAll(answer),
    })
    const hook = hooksOf(guard)
    hook('pre', pre('c1', 'ls a')).catch(() => {})
    await joined()
    expect(await alone(hook('pre', pre('c2', 'ls b')))).toBeUndefined()
  })

  it('judges two calls of one id apart, and a repeated hook once', async () => {
    const guard = scriptedGuard({ after: () => [run('c1'), refuse('c1', 'No.')] })
    const hook = hooksOf(guard)
    const held = ['ls', 'rm', 'ls'].map((command) => hook('pre', pre('c1', command)))
    await joined()
    expect(await Promise.all(held)).toEqual([
      undefined,
      denied(expect.stringContaining('No.')),
      undefined,
    ])
    expect(guard.asked.filter(({ kind }) => kind === 'after')).toHaveLength(1)
  })

  it('judges a later call under a known id again', async () => {
    const guard = scriptedGuard({ after: (_, n) => [n === 1 ? run('c1') : refuse('c1', 'No.')] })
    const hook = hooksOf(guard)
    expect(await alone(hook('pre', pre('c1', 'ls')))).toBeUndefined()
    expect(await alone(hook('pre', pre('c1', 'rm')))).toEqual(
      denied(expect.stringContaining('No.')),
    )
  })

  it('judges an equal call under a known id again, after the result of the first', async () => {
    const guard = scriptedGuard({
      after: (answer, n) => idsOf(answer).map((id) => (n === 1 ? run(id) : refuse(id, 'No.'))),
    })
    const hook = hooksOf(guard)
    expect(await alone(hook('pre', pre('c1')))).toBeUndefined()
    await hook('post', post('c1', 'a'))
    expect(await alone(hook('pre', pre('c1')))).toEqual(denied(expect.stringContaining('No.')))
    const [first, second] = guard.asked.flatMap((one) =>
      one.kind === 'after' ? idsOf(one.answer) : [],
    )
    expect(first).toBe('c1')
    expect(second).not.toBe('c1')
  })

  it('judges an equal call again once a hook has the verdict, also before a result', async () => {
    const guard = scriptedGuard({
      after: (answer, n) => idsOf(answer).map((id) => (n === 1 ? run(id) : refuse(id, 'No.'))),
    })
    const hook = hooksOf(guard)
    expect(await alone(hook('pre', pre('c1')))).toBeUndefined()
    expect(await alone(hook('pre', pre('c1')))).toEqual(denied(expect.stringContaining('No.')))
  })

  it("gives the proxy's verdict to each hook that waits for it, and asks nobody a second time", async () => {
    sessions.sawProxy(proxied)
    const { promise: decided, resolve } = Promise.withResolvers<CallVerdict>()
    sessions.judging(proxied, shownCalls(call('c1')), { last: () => decided })
    const guard = scriptedGuard({ after: () => [refuse('c1', 'Alone.')] })
    const hook = hooksOf(guard)
    const looks = [hook('pre', pre('c1')), hook('pre', pre('c1'))]
    await nextTask()
    clock.advance(hookProxyMs)
    resolve(run('c1'))
    expect(await Promise.all(looks)).toEqual([undefined, undefined])
    expect(guard.asked).toEqual([])
    const later = hook('pre', pre('c1'))
    await nextTask()
    clock.advance(hookProxyMs)
    await nextTask()
    expect(await alone(later)).toEqual(denied(expect.stringContaining('Alone.')))
  })

  it("takes the strictest of the proxy's verdicts on calls of one id", async () => {
    sessions.sawProxy(proxied)
    const verdicts = [run('c1'), refuse('c1', 'No.')]
    sessions.judging(proxied, shownCalls(call('c1'), call('c1')), {
      last: async (at) => verdicts[at],
    })
    const hook = hooksOf(scriptedGuard())
    expect(await hook('pre', pre('c1'))).toEqual(denied('No.'))
  })

  it('lets a call run while a person decides on its neighbour', async () => {
    const { promise: decided, resolve } = Promise.withResolvers<CallVerdict[]>()
    const waiting: CallVerdict = { ...run('c2'), verdict: 'pending' }
    const hook = hooksOf(
      scriptedGuard({ after: (_, n) => (n === 1 ? [run('c1'), waiting] : decided) }),
    )
    const [first, second] = [hook('pre', pre('c1')), hook('pre', pre('c2'))]
    expect(await alone(first)).toBeUndefined()
    resolve([run('c1'), refuse('c2', 'No.')])
    expect(await second).toEqual(denied('No.'))
  })

  it('denies a call that nobody decides on, and reports that it did not run', async () => {
    const guard = scriptedGuard({ after: () => [{ ...run('c1'), verdict: 'pending' }] })
    const hook = hooksOf(guard)
    expect(await alone(hook('pre', pre('c1')))).toEqual(
      denied(expect.stringContaining('no person or guard decided')),
    )
    expect(guard.asked.at(-1)).toMatchObject({
      kind: 'results',
      results: [{ callId: 'c1', status: 'skipped' }],
    })
  })

  it('reports a call as not run if its host stops waiting', async () => {
    const guard = scriptedGuard({ after: () => new Promise(() => {}) })
    const host = new AbortController()
    const held = front.answer(
      { agent: 'guest', guard },
      hookPayloadOf('pre', pre('c1')),
      host.signal,
    )
    await joined()
    host.abort()
    expect(await held).toEqual(denied(expect.any(String)))
    expect(guard.asked.at(-1)).toMatchObject({
      kind: 'results',
      results: [{ callId: 'c1', status: 'skipped' }],
    })
  })

  it('denies a call that Weir cannot judge', async () => {
    const hook = hooksOf(
      scriptedGuard({
        after: () => {
          throw new Error('the log is away')
        },
      }),
    )
    expect(await alone(hook('pre', pre('c1')))).toEqual(
      denied(expect.stringContaining('Weir cannot judge calls now')),
    )
  })

  it('names the subagent of a session as a conversation', async () => {
    const guard = scriptedGuard({ after: runAll })
    const hook = hooksOf(guard)
    await alone(hook('pre', { ...pre('c1'), agent_id: 'a7' }))
    expect(guard.asked).toMatchObject([{ id: 's1:a7', root: 's1' }])
    expect(guard.asked[0]).not.toHaveProperty('parent') // another sub-agent may have begun it
  })
})

describe('a call that starts an agent', () => {
  it('keeps its place for an agent in the background, until that ends', async () => {
    const guard = scriptedGuard({ after: runAll })
    const hook =
      (host: string): Hook =>
      (kind, body) =>
        front.answer(
          { agent: host, guard },
          { ...hookPayloadOf(kind, body), host },
          new AbortController().signal,
        )
    const [claude, codex] = [hook('claude-code'), hook('codex')]
    const agent = { ...pre('c1'), tool_name: 'Agent' }
    await alone(claude('pre', agent))
    const launched = { status: 'async_launched', agentId: 'a7' }
    await claude('post', { ...agent, hook_event_name: 'PostToolUse', tool_response: launched })
    await claude('stop', { ...session, agent_id: 'a7', hook_event_name: 'SubagentStop' })
    const wait = { ...pre('c2'), tool_name: 'multi_agent_v1wait_agent' }
    await alone(codex('pre', wait))
    const over = JSON.stringify({ status: { t1: { completed: 'Done.' }, t2: 'running' } })
    await codex('post', { ...wait, hook_event_name: 'PostToolUse', tool_response: over })
    const kinds = ['goes-on', 'finish', 'child-ended']
    expect(guard.asked.filter(({ kind }) => kinds.includes(kind))).toEqual([
      { kind: 'goes-on', id: 's1', callId: 'c1', child: 's1:a7' },
      { kind: 'finish', id: 's1:a7' },
      { kind: 'child-ended', id: 's1', child: 's1:t1' },
    ])
  })
})

describe('a hook after a call', () => {
  it('reports each result, and asks for advice after the last one of the round', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: () => ({ action: 'nudge', text: 'Change the command.' }),
    })
    const hook = hooksOf(guard)
    const both = Promise.all([hook('pre', pre('c1')), hook('pre', pre('c2'))])
    await joined()
    await both
    expect(await hook('post', post('c1', 'a'))).toBeUndefined()
    expect(await hook('post', failed('c2', 'Exit code 2'))).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUseFailure',
        additionalContext: 'Change the command.',
      },
    })
    expect(guard.asked.slice(1)).toMatchObject([
      { kind: 'results', results: [{ callId: 'c1', status: 'ok', text: 'a' }] },
      {
        kind: 'before',
        request: {
          pieces: [
            { kind: 'user' },
            { kind: 'response' },
            { kind: 'call', id: 'c1' },
            { kind: 'call', id: 'c2' },
            { kind: 'ended' },
            { kind: 'result', id: 'c1', text: 'a', isError: false },
            { kind: 'result', id: 'c2', text: 'Exit code 2', isError: true },
          ],
        },
      },
    ])
  })

  it('judges a call that the host refused itself with the batch that shows it', async () => {
    const guard = scriptedGuard({ after: runAll })
    const hook = hooksOf(guard)
    await alone(hook('pre', pre('c1')))
    await hook('post', post('c1', 'a'))
    const refused = '<tool_use_error>InputValidationError: Bash failed</tool_use_error>'
    await hook('batch', batch(['c1', 'a'], ['c2', refused]))
    expect(guard.asked.map(({ kind }) => kind)).toEqual(['after', 'before', 'after', 'before'])
    expect(guard.asked.at(-1)).toMatchObject({
      request: {
        pieces: [
          { kind: 'user' },
          { kind: 'response' },
          { kind: 'call', id: 'c2' },
          { kind: 'ended' },
          { kind: 'result', id: 'c2', text: refused, isError: true },
        ],
      },
    })
  })

  it('judges a result of a batch with an error as a failure, such as those of plug-ins', async () => {
    const guard = scriptedGuard({ after: runAll })
    const hook = hooksOf(guard)
    const { tool_calls, ...event } = batch(['c1', 'ok'])
    const error = 'Command exited with code 1'
    await hook('batch', { ...event, tool_calls: [...tool_calls, { ...call('c2'), error }] })
    expect(guard.asked.at(-1)).toMatchObject({
      request: {
        pieces: expect.arrayContaining([
          expect.objectContaining({ id: 'c1', text: 'ok', isError: false }),
          expect.objectContaining({ id: 'c2', text: error, isError: true }),
        ]),
      },
    })
  })

  it('ends the turn of a host that can end one', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: () => ({ action: 'end', reason: 'No progress.' }),
    })
    const hook = hooksOf(guard)
    const answer = await hook('batch', batch(['c1', '<tool_use_error>bad</tool_use_error>']))
    expect(answer).toEqual({ continue: false, stopReason: 'Weir ended the turn: No progress.' })
    expect(guard.asked.at(-1)?.kind).toBe('end')
  })

  it('tells the user and the model of a session that a sub-agent of it was ended', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: (request) =>
        JSON.stringify(request).includes('bad') ? { action: 'end', reason: 'No progress.' } : {},
    })
    const hook = hooksOf(guard)
    const agent = { ...batch(['c1', '<tool_use_error>bad</tool_use_error>']), agent_id: 'a1' }
    expect(await hook('batch', agent)).toMatchObject({ continue: false })
    const text = 'In a sub-agent: Weir ended the turn: No progress.'
    const own = { ...batch(['c2', '<tool_use_error>no</tool_use_error>']), prompt_id: 't2' }
    expect(await hook('batch', own)).toEqual({
      systemMessage: text,
      hookSpecificOutput: {
        hookEventName: 'PostToolBatch',
        additionalContext:
          'Weir ended an agent that you started before its task was done: No progress. Do not treat its task as done. Check its work before you rely on it, and do not start it again for the same task.',
      },
    })
    expect(await hook('batch', { ...own, tool_calls: [] })).toBeUndefined()
    const end = { ...session, hook_event_name: 'SessionEnd', reason: 'other' }
    expect(await hook('end', end)).toBe(text)
  })

  it('adds the end of a sub-agent to the advice that the model of the session gets', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: (request) =>
        JSON.stringify(request).includes('bad')
          ? { action: 'end', reason: 'No progress.' }
          : { action: 'nudge', text: 'Look again.' },
    })
    const hook = hooksOf(guard)
    await hook('batch', {
      ...batch(['c1', '<tool_use_error>bad</tool_use_error>']),
      agent_id: 'a1',
    })
    const own = { ...batch(['c2', '<tool_use_error>no</tool_use_error>']), prompt_id: 't2' }
    expect(await hook('batch', own)).toMatchObject({
      hookSpecificOutput: {
        additionalContext: expect.stringMatching(
          /^Look again\.\n\nWeir ended an agent that you started/,
        ),
      },
    })
  })

  it('gives the reason of the last turn to a user who saw no screen, at the end of the session', async () => {
    const reason = 'Bash({}) failed.\n\u001b[31mAll is well.'
    const hook = hooksOf(
      scriptedGuard({ after: runAll, before: () => ({ action: 'end', reason }) }),
    )
    const end = (reason: string, turn = 't1') =>
      hook('end', { ...session, prompt_id: turn, hook_event_name: 'SessionEnd', reason })
    expect(await end('other')).toBeUndefined()
    await hook('batch', batch(['c1', '<tool_use_error>bad</tool_use_error>']))
    expect(await end('other')).toBe('Weir ended the turn: Bash({}) failed. All is well.')
    expect(await end('prompt_input_exit')).toBeUndefined()
    expect(await end('other', 't2')).toBeUndefined()
  })

  it('gives the reason to the model of a host that cannot end its turn', async () => {
    const hook = hooksOf(
      scriptedGuard({ after: runAll, before: () => ({ action: 'end', reason: 'No progress.' }) }),
    )
    await alone(hook('pre', pre('c1')))
    expect(await hook('post', post('c1', 'a'))).toMatchObject({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        additionalContext: expect.stringMatching(/plain text\. The reason: No progress\.$/),
      },
    })
  })

  it('refuses every further call of a turn that Weir has ended, and none of the next turn', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: () => ({ action: 'end', reason: 'No progress.' }),
    })
    const hook = hooksOf(guard)
    await alone(hook('pre', pre('c1')))
    await hook('post', post('c1', 'a'))
    expect(await hook('pre', pre('c2'))).toEqual(
      denied(expect.stringContaining('Weir has ended this turn')),
    )
    expect(await alone(hook('pre', { ...pre('c3'), prompt_id: 't2' }))).toBeUndefined()
  })

  it('refuses no call after the next prompt of a host that names no turns', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: () => ({ action: 'end', reason: 'No progress.' }),
    })
    const hook = hooksOf(guard)
    const unnamed = { prompt_id: undefined }
    await alone(hook('pre', { ...pre('c1'), ...unnamed }))
    await hook('post', { ...post('c1', 'a'), ...unnamed })
    expect(await hook('pre', { ...pre('c2'), ...unnamed })).toEqual(
      denied(expect.stringContaining('Weir has ended this turn')),
    )
    await hook('prompt', { ...prompt('Try again.'), ...unnamed })
    expect(await alone(hook('pre', { ...pre('c3'), ...unnamed }))).toBeUndefined()
  })

  it('asks for advice with the refusal of a round in which no call runs', async () => {
    const guard = scriptedGuard({
      after: () => [refuse('c1', 'Not now.')],
      before: () => ({ action: 'text_only', text: 'Answer in text.' }),
    })
    const hook = hooksOf(guard)
    expect(await alone(hook('pre', pre('c1')))).toEqual(denied('Not now.\n\nAnswer in text.'))
    expect(await hook('batch', batch(['c1', 'denied']))).toBeUndefined()
    expect(guard.asked.map(({ kind }) => kind)).toEqual(['after', 'before'])
  })

  it('reports that the agent has finished its turn', async () => {
    const guard = scriptedGuard()
    const hook = hooksOf(guard)
    await hook('stop', { ...session, hook_event_name: 'Stop' })
    expect(guard.asked).toEqual([{ kind: 'finish', id: 's1' }])
  })

  it('reports that a sub-agent has finished, and never takes it for its session', async () => {
    const guard = scriptedGuard()
    const hook = hooksOf(guard)
    const stop = { ...session, hook_event_name: 'SubagentStop' }
    await hook('stop', stop)
    await hook('stop', { ...stop, agent_id: 'a7' })
    expect(guard.asked).toEqual([{ kind: 'finish', id: 's1:a7' }])
  })
})

describe('a hook next to the proxy', () => {
  it('waits for the verdict of the round that the proxy passes on', async () => {
    const guard = scriptedGuard()
    const hook = hooksOf(guard)
    sessions.sawProxy(proxied)
    const held = hook('pre', pre('c2'))
    const verdicts = [run('c1'), refuse('c2', 'No.')]
    sessions.judging(proxied, shownCalls(call('c1'), call('c2')), {
      last: async (at) => verdicts[at],
    })
    expect(await held).toEqual(denied('No.'))
    expect(guard.asked).toEqual([])
  })

  it('is judged alone too if the proxy has the session under another guest: the stricter verdict counts', async () => {
    const guard = scriptedGuard({ after: () => [refuse('c1', 'The agent is stopped.')] })
    const hook = hooksOf(guard, 'claude-code')
    sessions.sawProxy(proxied)
    sessions.judging(proxied, shownCalls(call('c1')), { last: async () => run('c1') })
    const held = hook('pre', pre('c1'))
    await nextTask()
    expect(await alone(held)).toEqual(denied(expect.stringContaining('The agent is stopped.')))
    sessions.judging(proxied, shownCalls(call('c2')), { last: async () => refuse('c2', 'No.') })
    expect(await hook('pre', pre('c2'))).toEqual(denied('No.'))
    expect(guard.asked.filter(({ kind }) => kind === 'after')).toHaveLength(1)
  })

  it('reports results to its own guest if the proxy has the session under another guest', async () => {
    const guard = scriptedGuard({ after: runAll })
    const hook = hooksOf(guard, 'claude-code')
    sessions.sawProxy(proxied)
    sessions.judging(proxied, shownCalls(call('c1')), { last: async () => run('c1') })
    const held = hook('pre', pre('c1'))
    await nextTask()
    expect(await alone(held)).toBeUndefined()
    await hook('post', post('c1', 'a'))
    expect(guard.asked.map(({ kind }) => kind)).toEqual(['after', 'before'])
  })

  it('takes no verdict on another call with the same id', async () => {
    const hook = hooksOf(scriptedGuard())
    sessions.sawProxy(proxied)
    sessions.judging(proxied, shownCalls(call('c1', 'ls')), { last: async () => run('c1') })
    const held = hook('pre', pre('c1', 'rm -rf /'))
    const next = { last: async () => refuse('c1', 'No.') }
    sessions.judging(proxied, shownCalls(call('c1', 'rm -rf /')), next)
    expect(await held).toEqual(denied('No.'))
  })

  it('takes a verdict once, and waits for the next one on an equal call', async () => {
    const hook = hooksOf(scriptedGuard())
    sessions.sawProxy(proxied)
    sessions.judging(proxied, shownCalls(call('c1')), { last: async () => run('c1') })
    expect(await hook('pre', pre('c1'))).toBeUndefined()
    const held = hook('pre', pre('c1'))
    sessions.judging(proxied, shownCalls(call('c1')), { last: async () => refuse('c1', 'No.') })
    expect(await held).toEqual(denied('No.'))
  })

  it('judges a call alone that no round of the proxy has shown in time', async () => {
    const guard = scriptedGuard({ after: runAll })
    const hook = hooksOf(guard)
    sessions.sawProxy(proxied)
    const held = hook('pre', pre('c1'))
    await nextTask()
    clock.advance(hookProxyMs)
    expect(await alone(held)).toBeUndefined()
    expect(guard.asked).toMatchObject([{ kind: 'after', id: 's1' }])
  })

  it('leaves results, advice and the end of the turn to the proxy', async () => {
    const guard = scriptedGuard()
    const hook = hooksOf(guard)
    sessions.sawProxy(proxied)
    for (const [kind, body] of [
      ['post', post('c1', 'a')],
      ['batch', batch(['c1', 'a'])],
      ['stop', { ...session, hook_event_name: 'Stop' }],
    ] as const)
      expect(await hook(kind, body)).toBeUndefined()
    expect(guard.asked).toEqual([])
  })

  it('shows the proxy that a hook can hold the calls of a session', async () => {
    const hook = hooksOf(scriptedGuard())
    expect(sessions.hasHooks('s1')).toBe(false)
    await hook('prompt', prompt('Hello'))
    expect(sessions.hasHooks('s1')).toBe(true)
  })
})
