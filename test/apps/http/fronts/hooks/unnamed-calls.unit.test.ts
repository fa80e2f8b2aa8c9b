// The hooks of hosts that give calls no ids: Gemini CLI and Copilot CLI.

import { setImmediate as nextTask } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { hookFront } from '../../../../../apps/http/fronts/hooks/hook-front.ts'
import { type HookKind, hookPayloadOf } from '../../../../../apps/http/fronts/hooks/hook-payload.ts'
import { hostSessions } from '../../../../../apps/http/fronts/hooks/host-sessions.ts'
import type {
  CallVerdict,
  GuardSession,
  ReadGuestAnswer,
} from '../../../../../client/guard/guest-conversation.ts'
import { fakeClock } from '../../../../../client/testing/fake-clock.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import { scriptedGuard } from '../../scripted-guard.ts'

type Body = Record<string, unknown>

const list = { tool_name: 'run_shell_command', tool_input: { command: 'ls' } }
const starting: Body = { session_id: 's1', hook_event_name: 'BeforeTool', ...list }
const ended = (llmContent: unknown, error?: object): Body => ({
  session_id: 's1',
  hook_event_name: 'AfterTool',
  ...list,
  tool_response: { llmContent, returnDisplay: '', ...(error && { error }) },
})

function hooksOf(guard: GuardSession) {
  const clock = fakeClock(0)
  const front = hookFront({ sessions: hostSessions(clock), clock, log: pino({ level: 'silent' }) })
  const hook = (kind: HookKind, body: Body) =>
    front.answer(
      { agent: 'gemini-cli', guard },
      hookPayloadOf(kind, body),
      new AbortController().signal,
    )
  return {
    hook,
    /** The hooks of one message, which start at once. */
    async together(...bodies: Body[]) {
      const all = Promise.all(bodies.map((body) => hook('pre', body)))
      await nextTask()
      clock.advance(limits.callJoinMs)
      return all
    },
  }
}

const idsOf = (answer: unknown): string[] =>
  (answer as ReadGuestAnswer).pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.id] : []))
const verdict = (callId: string, text = ''): CallVerdict => ({
  callId,
  name: 'run_shell_command',
  verdict: text === '' ? 'allow' : 'deny',
  text,
  code: '',
})
const runAll = (answer: unknown) => idsOf(answer).map((id) => verdict(id))

describe('a host that gives calls no ids', () => {
  it('gets a verdict for each of two equal calls that start at once', async () => {
    const guard = scriptedGuard({
      after: (answer) =>
        idsOf(answer).map((id, at) => verdict(id, at === 0 ? '' : 'Once is enough.')),
    })
    const answers = await hooksOf(guard).together(starting, starting)
    expect(answers).toEqual([undefined, { decision: 'deny', reason: 'Once is enough.' }])
  })

  it('reports one result for each of two equal calls, and asks for advice after the second', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: () => ({ action: 'nudge', text: 'Look.' }),
    })
    const { hook, together } = hooksOf(guard)
    await together(starting, starting)
    expect(await hook('post', ended('a'))).toBeUndefined()
    expect(await hook('post', ended([{ text: 'b' }]))).toEqual({
      hookSpecificOutput: { hookEventName: 'AfterTool', additionalContext: 'Look.' },
    })
    const [{ answer } = { answer: undefined }, , { request } = { request: undefined }] =
      guard.asked as { answer?: unknown; request?: { pieces: Body[] } }[]
    const results = request?.pieces.filter(({ kind }) => kind === 'result') ?? []
    expect(results.map(({ text }) => text).toSorted()).toEqual(['a', 'b'])
    expect(results.map(({ id }) => id).toSorted()).toEqual(idsOf(answer).toSorted())
  })

  it('takes a result for the call that runs, not for an equal call that was denied before', async () => {
    let denials = 1
    const guard = scriptedGuard({
      after: (answer) => idsOf(answer).map((id) => verdict(id, denials-- > 0 ? 'No.' : '')),
    })
    const { hook, together } = hooksOf(guard)
    await together(starting)
    await together(starting)
    await hook('post', ended('a'))
    const last = guard.asked.at(-1) as unknown as { request: { pieces: Body[] } }
    expect(last.request.pieces.filter(({ kind }) => kind === 'result')).toMatchObject([
      { text: 'a', isError: false },
    ])
  })

  it('shows a failure by the message that the model reads', async () => {
    const guard = scriptedGuard({ after: runAll })
    const { hook, together } = hooksOf(guard)
    await together(starting)
    await hook('post', ended('It failed.', { message: 'File not found: a', type: 'not_found' }))
    expect(guard.asked.at(-1)).toMatchObject({
      request: {
        pieces: expect.arrayContaining([
          expect.objectContaining({ kind: 'result', text: 'File not found: a', isError: true }),
        ]),
      },
    })
  })
})

describe('Gemini CLI', () => {
  const ending = () => ({ action: 'end' as const, reason: 'No progress.' })

  it('ends its turn after a result, and reports the end', async () => {
    const guard = scriptedGuard({ after: runAll, before: ending })
    const { hook, together } = hooksOf(guard)
    await together(starting)
    expect(await hook('post', ended('a'))).toEqual({
      continue: false,
      stopReason: expect.stringContaining('No progress.'),
    })
    expect(guard.asked.at(-1)).toMatchObject({ kind: 'end', id: 's1' })
  })

  it('ends its turn in place of a denial, and each later call of the turn does too', async () => {
    const guard = scriptedGuard({
      after: (answer) => idsOf(answer).map((id) => verdict(id, 'No.')),
      before: ending,
    })
    const { hook, together } = hooksOf(guard)
    const end = { continue: false, stopReason: expect.stringContaining('No progress.') }
    expect(await together(starting)).toEqual([end])
    expect(await hook('pre', starting)).toEqual(end)
  })
})

describe('Copilot CLI', () => {
  const named = { session_id: 's1', tool_name: 'Bash', tool_input: { command: 'ls' } }

  it('reads advice in the member of its own form', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: () => ({ action: 'nudge', text: 'Look.' }),
    })
    const { hook, together } = hooksOf(guard)
    await together({ ...named, hook_event_name: 'PreToolUse' })
    const tool_result = { result_type: 'success', text_result_for_llm: 'a.txt' }
    const post = { ...named, hook_event_name: 'PostToolUse', tool_result }
    expect(await hook('post', post)).toEqual({ additionalContext: 'Look.' })
    expect(guard.asked.at(-1)).toMatchObject({
      request: { pieces: expect.arrayContaining([expect.objectContaining({ text: 'a.txt' })]) },
    })
  })

  it('ends no turn: a call after the end is denied', async () => {
    const guard = scriptedGuard({
      after: runAll,
      before: () => ({ action: 'end', reason: 'No progress.' }),
    })
    const { hook, together } = hooksOf(guard)
    const pre = { ...named, hook_event_name: 'PreToolUse' }
    await together(pre)
    await hook('post', { ...named, hook_event_name: 'PostToolUseFailure', error: 'bad' })
    expect(await hook('pre', pre)).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    })
  })
})
