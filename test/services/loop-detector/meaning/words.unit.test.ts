// Each word and each bound of the lists by which the loop-detector reads meaning. A word without a
// test could leave its list and nobody would notice (make mutate).

import { describe, expect, it } from '@jest/globals'
import { commandOutput } from '../../../../services/loop-detector/meaning/command-output.ts'
import { echoOf } from '../../../../services/loop-detector/meaning/echo.ts'
import {
  mayHoldStates,
  withoutSentStates,
  withoutStates,
} from '../../../../services/loop-detector/meaning/lap-state.ts'
import { reportedFailure } from '../../../../services/loop-detector/meaning/reported-failure.ts'
import { placeOfChange } from '../../../../services/loop-detector/meaning/written-text.ts'
import { actions, ok, one } from '../rounds.ts'

const words = (list: string) => list.split(' ')

describe('a value of a lap is a state by its name', () => {
  it.each(
    words(
      'state nonce code_challenge csrf_token login_challenge relaystate samlrequest oauth_nonce sig signature hmac x-amz-signature',
    ),
  )('%s, which nobody chooses, in arguments and in results', (name) => {
    const url = `/a?${name}=ab12cd34ef`
    expect(mayHoldStates(url)).toBe(true)
    expect(withoutSentStates(url, new Map()).text).toBe(`/a?${name}=<state>`)
    expect(withoutStates(url).states).toEqual(['ab12cd34ef'])
  })

  it.each(words('code otp challenge token device_code se st expires exp key-pair-id'))(
    '%s, which a result gives out, only in results',
    (name) => {
      const url = `/a?${name}=ab12cd34ef`
      expect(mayHoldStates(url)).toBe(true)
      expect(withoutSentStates(url, new Map()).text).toBe(url)
      expect(withoutStates(url).states).toEqual(['ab12cd34ef'])
    },
  )

  it.each([
    '{"state": "ab12cd34"}',
    "{'codeVerifier': 'ab12cd34'}",
    '<input name="csrf_token" value="ab12cd34">',
    'Local: http://localhost:5173/',
    'listening on port 5173',
    'https://k3w8a1z5q7m2.ngrok-free.app/',
    '"session_id":"ab12cd34"',
  ])('and the first look finds it: %s', (text) => {
    expect(mayHoldStates(text)).toBe(true)
    expect(withoutStates(text).states).toHaveLength(1)
  })

  it.each(['{"state":"open","url":"https://a.example.com/7"}', 'status: 4 of 12', '{"code":"a"}'])(
    'and a short word or a plain host costs no second look: %s',
    (text) => expect(mayHoldStates(text)).toBe(false),
  )

  it('in the first 4,096 characters, sixteen of them', () => {
    const at = (length: number) => `${' '.repeat(length - 17)}?state=ab12cd34ef`
    expect(withoutStates(at(4_096)).text.trimStart()).toBe('?state=<state>')
    expect(withoutStates(at(4_097)).text.trimStart()).toBe('?state=<state>f')
    expect(withoutStates('?state=ab12cd34 '.repeat(17)).states).toHaveLength(16)
  })
})

describe('a call only speaks', () => {
  const echo = (command: string, text: string) =>
    echoOf('Bash', { command }, { effect: 'reads', raw: '', text })?.kind

  it.each([
    ['echo hi', 'hi'],
    ['printf hi', 'hi'],
    ['true', ''],
    [': hi', ''],
    ['Write-Output hi', 'hi'],
    ['Write-Host hi', 'hi'],
  ])('with %s', (command, text) => expect(echo(command, text)).toBe('speech'))

  it('with a result of up to 1,000 characters', () => {
    expect(echo('echo hi', 'hi'.padEnd(1_000))).toBe('speech')
    expect(echo('echo hi', 'hi'.padEnd(1_001))).toBeUndefined()
  })

  it.each([
    ['Codex', 'Chunk ID: a1b2\nWall time: 0.05 seconds\nProcess exited with code 0\nOutput:\nhi'],
    ['an older Codex', '{"output":"hi","metadata":{"exit_code":0,"duration_seconds":0.1}}'],
    [
      'Gemini CLI',
      'Command: echo hi\nDirectory: (root)\nStdout: hi\nStderr: (empty)\nError: (none)\nExit Code: 0',
    ],
    ['a newer Gemini CLI', 'Output: hi\nProcess Group PGID: 4107'],
  ])('in the frame of %s', (_, text) => {
    expect(commandOutput(text)).toBe('hi')
    expect(echo('echo hi', text)).toBe('speech')
  })

  it('and a result with other words in the frame of a host is none', () => {
    expect(commandOutput('Stdout of the tool')).toBe('Stdout of the tool')
    expect(echo('echo hi', 'Output: bye\nProcess Group PGID: 4107')).toBeUndefined()
  })
})

describe('a success reports a failure', () => {
  const reported = (text: string, tool = 'draw') =>
    reportedFailure(tool, {}, { effect: 'opaque', text })

  it.each(words('status state result outcome'))('in the member %s', (name) =>
    expect(reported(`{"${name}":"failed","message":"no balance"}`)).toBeDefined(),
  )

  it.each(words('success successful ok'))('by %s, which is false', (name) =>
    expect(reported(`{"${name}":false,"message":"no balance"}`)).toBeDefined(),
  )

  it.each(
    words(
      'error errored failed failure denied refused rejected exhausted forbidden unauthorized blocked suspended',
    ),
  )('by the status %s', (status) =>
    expect(reported(`{"status":"${status}","message":"no balance"}`)).toBeDefined(),
  )

  it.each(words('message msg detail details reason description code title'))(
    'and %s explains it',
    (name) =>
      expect(reported(`{"success":false,"${name}":"no balance"}`)?.error).toContain('no balance'),
  )

  it.each(words('data response result output'))('inside of the envelope %s', (name) =>
    expect(reported(`{"${name}":{"error":"no balance"}}`)).toBeDefined(),
  )

  it.each(
    words(
      'test tests jest pytest check verify validate lint build compile ci log logs tail cat read',
    ),
  )('but not of the tool %s, whose answer is the state of a thing', (word) =>
    expect(reported('{"error":"no balance"}', `${word}_it`)).toBeUndefined(),
  )

  it('in its first line', () =>
    expect(reported('Quota exceeded: 0 of 500,000 characters left')).toBeDefined())
})

describe('a call counts', () => {
  const due = (length: number) =>
    actions(
      ...Array.from({ length: 16 }, (_, n) =>
        one('seek', { index: n + 10 }, ok(`frame ${n + 10} `.padEnd(length, 'x'))),
      ),
    ).at(-1)

  it('with results of up to 1,000 characters', () => {
    expect(due(1_000)).toBe('nudge')
    expect(due(1_001)).toBe('-')
  })
})

describe('a change has a place', () => {
  const place = (tool: string, value: unknown) =>
    placeOfChange({ tool, value, effect: 'changes', failure: undefined, reported: undefined })

  it.each<[string, string, Record<string, string>]>([
    ['Cursor', 'edit_file', { target_file: 'a.ts', instructions: 'add', code_edit: 'x' }],
    [
      'Codex',
      'apply_patch',
      { input: '*** Begin Patch\n*** Update File: a.ts\n@@\n+x\n*** End Patch' },
    ],
  ])('in an edit of %s', (_, tool, value) => expect(place(tool, value)).toBe('a.ts'))

  it('in all files of a patch of Codex', () => {
    const patch =
      '*** Begin Patch\n*** Update File: a.ts\n+x\n*** Add File: b.ts\n+y\n*** End Patch'
    expect(place('apply_patch', { input: patch })).toBe('a.ts\nb.ts')
    expect(place('apply_patch', { input: '*** Begin Patch\n*** End Patch' })).toBeUndefined()
  })

  it('in a command that is a list of words', () =>
    expect(place('shell', { command: ['bash', '-lc', 'echo x >> a.md'] })).toBe('a.md'))
})
