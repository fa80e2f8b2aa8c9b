// The edges of the rules for loops that vary: the exact round of each step, and the calls that look
// like such a loop and are none.

import { describe, expect, it } from '@jest/globals'
import { echoOf } from '../../../services/loop-detector/meaning/echo.ts'
import {
  withoutSentStates,
  withoutStates,
} from '../../../services/loop-detector/meaning/lap-state.ts'
import { reportedFailure } from '../../../services/loop-detector/meaning/reported-failure.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'
import { actions, ok, one, type Step } from './rounds.ts'

const each = (count: number, step: (n: number) => Step) =>
  Array.from({ length: count }, (_, index) => step(index + 1))
const due = (steps: Step[]) =>
  actions(...steps).flatMap((action, at) => (action === '-' ? [] : [[at + 1, action]]))
const letters = (n: number) => 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN'.charAt(n)

describe('loops that vary', () => {
  it('climb one step for each six reported failures', () => {
    const draw = (n: number) => one('draw', { prompt: letters(n) }, ok('{"error":"no balance"}'))
    expect(due(each(18, draw))).toEqual([
      [6, 'nudge'],
      [12, 'text_only'],
      [18, 'end'],
    ])
  })

  it('have the patience of transient failures if a reported failure may clear', () => {
    const send = (n: number) => one('draw', { prompt: letters(n) }, ok('HTTP 503 Unavailable'))
    expect(due(each(10, send))).toEqual([[10, 'nudge']])
  })

  it('count reported failures anew after a success of the operation', () => {
    const draw = (n: number) =>
      one('draw', { prompt: letters(n) }, ok(n === 5 ? 'a picture' : '{"error":"no balance"}'))
    expect(due(each(10, draw))).toEqual([])
  })

  it('climb one step for each eight times of one change', () => {
    const write = (n: number) => one('append_file', { path: 'a', text: 'x' }, ok(`line ${n}`))
    expect(due(each(24, write))).toEqual([
      [8, 'nudge'],
      [16, 'text_only'],
      [24, 'end'],
    ])
  })

  it('are no loop of changes if the place gets another text in between', () => {
    const write = (n: number) =>
      one('append_file', { path: 'a', text: n % 5 === 0 ? letters(n) : 'x' }, ok(`line ${n}`))
    expect(due(each(20, write))).toEqual([])
  })

  it('only remind the model if a number counts up', () => {
    const seek = (n: number) => one('seek', { index: n }, ok('ok'))
    expect(due(each(33, seek))).toEqual([
      [16, 'nudge'],
      [32, 'nudge'],
    ])
  })

  it('have the doubled limit for a page that refuses', () => {
    const page = (n: number) => one('serp', { q: letters(n) }, ok('blocked-'.repeat(8)))
    expect(due(each(16, page))).toEqual([[16, 'nudge']])
    const short = (n: number) => one('serp', { q: letters(n) }, ok('blocked-'.repeat(8).slice(1)))
    expect(due(each(16, short))).toEqual([])
  })
})

describe('an echo', () => {
  const echo = (command: string, text: string) =>
    echoOf('Bash', { command }, { effect: 'reads', raw: '', text })?.kind

  it.each([
    ['a command that speaks', 'echo step_7', 'step_7'],
    ['a program of an interpreter', `python3 -c "print('step 7')"`, 'step 7\n'],
    ['a text of a command', "cat <<'E'\npart 7\nE", 'part 7\n'],
  ])('is the result of %s', (_, command, text) => expect(echo(command, text)).toBe('speech'))

  it.each([
    ['a variable', 'echo $HOME', 'HOME'],
    ['a redirection', 'echo a > a', ''],
    ['another program', 'test -f a && echo a', 'a'],
    ['a substitution', 'echo `cat a`', 'cat a'],
    ['other words', 'echo a', 'b'],
  ])('is not the result of a command with %s', (_, command, text) =>
    expect(echo(command, text)).toBeUndefined(),
  )

  it.each([
    ['letters', 2, '中'.repeat(1_000)],
    ['a heredoc that does not end', 4_000, `cat <<c\n\n${'\n\t'.repeat(490)}.`],
    ['a print that does not end', 4_000, `say ''${'\t'.repeat(990)}"`],
  ])('is searched for in linear time in a call with %s', (_, times, text) => {
    const raw = JSON.stringify({ text })
    const search = () => [
      echoOf('note', { text }, { effect: 'opaque', raw, text }),
      echo(text, 'other'),
    ]
    const found: unknown[] = []
    const cpuMs = cpuMsOf(() => {
      for (let n = 0; n < times; n += 1) found.push(...search())
    })
    expect(found.filter((one) => one !== undefined)).toEqual([])
    expect(cpuMs).toBeLessThan(2_000)
  })
})

describe('a reported failure', () => {
  const reported = (tool: string, value: unknown, text: string) =>
    reportedFailure(tool, value, { effect: 'opaque', text })?.kind

  it('is read in up to 512 characters', () => {
    const text = (length: number) => 'Error: no balance'.padEnd(length, ' x')
    expect(reported('draw', {}, text(512))).toBe('other')
    expect(reported('draw', {}, text(513))).toBeUndefined()
  })

  it.each([
    ['the state of a job', 'job', { job_id: 7 }, '{"status":"failed"}'],
    ['a failed test', 'run_tests', {}, 'FAILED: 1 of 12'],
    ['a lookup without a hit', 'fetch', {}, '{"status":404}'],
    ['a count of errors', 'scan', {}, '{"errors":0,"files":3}'],
    ['a success', 'draw', {}, '{"success":true,"error":null}'],
  ])('is not %s', (_, tool, value, text) => expect(reported(tool, value, text)).toBeUndefined())
})

describe('the states of a lap', () => {
  it('are values in results that nobody chose', () => {
    const { text, states } = withoutStates('{"state":"ab12cd34","name":"main"} on port 53211')
    expect(text).toBe('{"state":"<state>","name":"main"} on port <state>')
    expect(states).toEqual(['ab12cd34', '53211'])
  })

  it('are in arguments only by a random name or by a result', () => {
    const given = new Map([['53211', 3]])
    expect(withoutSentStates('{"port":53211}', given)).toEqual({
      text: '{"port":<state>}',
      oldest: 3,
    })
    expect(withoutSentStates('{"port":53212,"state":"open"}', given).text).toBe(
      '{"port":53212,"state":"open"}',
    )
    expect(withoutSentStates('{"nonce":"ab12cd34"}', given).text).toBe('{"nonce":"<state>"}')
  })
})
