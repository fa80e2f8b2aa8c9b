// Hooks alone: a host shows calls and results, and no text. The calls of one response start together.

import { setImmediate as nextTask } from 'node:timers/promises'
import { pino } from 'pino'
import { hookFront } from '../../apps/http/fronts/hooks/hook-front.ts'
import { type HookKind, hookPayloadOf } from '../../apps/http/fronts/hooks/hook-payload.ts'
import { hostSessions } from '../../apps/http/fronts/hooks/host-sessions.ts'
import { fakeClock } from '../../client/testing/fake-clock.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Transcript, TranscriptResponse } from '../../shared/transcript/transcript.ts'
import { requestOf } from '../support/guest-requests.ts'
import { type Driver, judged } from './driver.ts'

export const hooksDriver: Driver = {
  name: 'hooks alone',
  endsAt: 'end', // the hooks deny each later call
  leavesOut: hidden,
  async drive([guard], { turns }, thread) {
    const clock = fakeClock(0)
    const sessions = hostSessions(clock)
    const front = hookFront({ sessions, clock, log: pino({ level: 'silent' }) })
    const host = new AbortController()
    for (const [turn, { user, responses }] of turns.entries()) {
      const send = (kind: HookKind, event: string, body: object) =>
        front.answer(
          { agent: 'guest', guard },
          hookPayloadOf(kind, {
            session_id: thread,
            prompt_id: `${turn}`,
            hook_event_name: event,
            ...body,
          }),
          host.signal,
        )
      await send('prompt', 'UserPromptSubmit', { prompt: user })
      for (const [round, { calls }] of responses.entries()) {
        const shown = calls.map(({ name, arguments: text, result }, at) => ({
          // The host's ids are unique.
          call: {
            tool_use_id: `${turn}.${round}.${at}`,
            tool_name: name,
            tool_input: JSON.parse(text),
          },
          result,
        }))
        const held = shown.map(({ call }) => send('pre', 'PreToolUse', call))
        await nextTask()
        clock.advance(limits.callJoinMs)
        await Promise.all(held)
        for (const { call, result } of shown)
          if (result !== undefined && result !== 'unknown')
            await (result.isError
              ? send('post', 'PostToolUseFailure', { ...call, error: result.text })
              : send('post', 'PostToolUse', { ...call, tool_response: result.text }))
      }
      await send('stop', 'Stop', {})
      // A hook waits for no round. The answer to this request comes after the end of the turn.
      const conversation = guard.conversation(thread, { turn: `${turn}` })
      await judged(conversation, requestOf('anthropic', []))
    }
  },
}

/** A transcript that no hook shows as a whole. */
function hidden({ turns, tools }: Transcript): string | undefined {
  if (turns.length > 1) return 'hooks do not show the reply, so later steps have other numbers'
  const responses = turns.flatMap((turn) => turn.responses)
  if (responses.every(({ calls }) => calls.length === 0)) return 'no call is in a hook'
  if (responses.slice(0, -1).some(({ calls }) => calls.length === 0))
    return 'a response without calls is in no hook'
  if (tools?.some(({ schema }) => Object.keys(JSON.parse(schema)).length > 1))
    return 'hooks do not show the schemas of tools'
  if (responses.some(({ calls }) => calls.some(({ name }) => isUnknown(name, tools))))
    return 'hooks do not show which tools there are'
  if (responses.some(hasUnreadable)) return 'the host refuses arguments that are no object'
  return undefined
}

function isUnknown(called: string, tools: Transcript['tools']): boolean {
  return tools !== undefined && !tools.some(({ name }) => name === called)
}

function hasUnreadable({ calls }: TranscriptResponse): boolean {
  return calls.some(({ arguments: text }) => {
    try {
      const value: unknown = JSON.parse(text)
      // Hooks show a value, so two spellings of it are one call.
      return typeof value !== 'object' || value === null || JSON.stringify(value) !== text
    } catch {
      return true
    }
  })
}
