// Each word and each bound of the lists by which the loop-detector reads meaning. A word without a
// test could leave its list and nobody would notice (make mutate).

import { describe, expect, it } from '@jest/globals'
import { commandOutput, echoOf } from '../../../../services/loop-detector/meaning/echo.ts'
import { emptyHandedAnswer } from '../../../../services/loop-detector/meaning/empty-handed.ts'
import {
  mayHoldStates,
  withoutSentStates,
  withoutStates,
} from '../../../../services/loop-detector/meaning/lap-state.ts'
import { reportedFailure } from '../../../../services/loop-detector/meaning/reported-failure.ts'
import { isStep } from '../../../../services/loop-detector/meaning/step.ts'
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

  it.each<[string, string, string | undefined]>([
    ['its own words', "cat > a.ts <<'EOF'\nnpm test\n  EOF", 'a.ts'],
    ['another program after its words', 'cat > a.ts <<EOF\nx\nEOF\nnpm test', undefined],
    ['another program after no words', 'cat > a.ts <<EOF\nEOF\nnpm test', undefined],
    ['another program after a word without an end mark', 'cat > a.ts <<< x\nnpm test', undefined],
  ])('in a command with %s, or not', (_, command, expected) =>
    expect(place('bash', { command })).toBe(expected),
  )
})

describe('a search has no hits, in the words of its call', () => {
  const answer = (text: string) => emptyHandedAnswer({ query: 'blue lamp' }, text)

  it.each([
    ['No results for "blue lamp"', 'No results for "<argument>"'],
    ['0 hits: blue lamp', '0 hits: <argument>'],
    ['Zero items match blue lamp', 'Zero items match <argument>'],
    ['No lamps found for blue lamp', 'No lamps found for <argument>'],
    ['{"query":"blue lamp","results":[]}', '{"query":"<argument>","results":[]}'],
    [
      '{\n "q": "blue lamp",\n "hits": [],\n "total": 0\n}',
      '{ "q": "<argument>", "hits": [], "total": 0 }',
    ],
    [
      '{"q":"blue lamp","more":false,"next":null,"hits":[]}',
      '{"q":"<argument>","more":false,"next":null,"hits":[]}',
    ],
    ['{"query":"blue lamp","results":[],"hint":"wait"}', undefined],
    ['{"query":"blue lamp","total":4,"results":[]}', undefined],
    ['{"query":"blue lamp"}', undefined],
    ['No problems found in blue lamp', undefined],
    ['No results', undefined],
    ['The blue lamp has no results', undefined],
  ])('%j', (text, expected) => expect(answer(text)).toBe(expected))

  it('in up to 512 characters', () => {
    expect(answer('No results for blue lamp '.padEnd(512, 'x'))).toBeDefined()
    expect(answer('No results for blue lamp '.padEnd(513, 'x'))).toBeUndefined()
  })

  it.each([
    ['a sentence', (query: string) => `No results found for query: "${query}"`],
    ['an object', (query: string) => JSON.stringify({ query, results: [] })],
  ])('and %s of eight reworded searches is one answer', (_, answerTo) => {
    const queries = words('lamp lamps lantern lampshade torch light lights lighting')
    const searches = (textOf: (query: string) => string) =>
      actions(...queries.map((query) => one('search', { query }, ok(textOf(query)))))
    expect(searches(answerTo)).toEqual([...Array.from({ length: 7 }, () => '-'), 'nudge'])
    const hits = (query: string) => JSON.stringify({ query, results: [`the ${query} of page 7`] })
    expect(searches(hits)).toEqual(Array.from({ length: 8 }, () => '-'))
  })
})

describe('a call is a step', () => {
  const step = (tool: string, value: Record<string, unknown>, text = 'done') =>
    isStep({ tool, value, text, raw: JSON.stringify(value) })

  it.each(words('undo redo scroll'))('by the word %s of its tool or its action', (word) => {
    expect(step(`page_${word}`, {})).toBe(true)
    expect(step('computer', { action: word })).toBe(true)
  })

  it.each(words('mouse_wheel page_down browser_page_up pageDown'))('by the tool %s', (tool) =>
    expect(step(tool, {})).toBe(true),
  )

  it.each(words('page_update homepage_upload steering_wheel page_downloads'))(
    'but not by the tool %s',
    (tool) => expect(step(tool, {})).toBe(false),
  )

  it.each(words('press_key key send_keys keyboard'))('by a moving key of the tool %s', (tool) => {
    expect(step(tool, { key: 'Tab' })).toBe(true)
    expect(step(tool, { key: 'Enter' })).toBe(false)
  })

  it.each(
    words(
      'Tab Shift+Tab Ctrl+Left Control+Right Alt+Up Meta+Down ArrowDown Up PageDown Page_Up Backspace Delete',
    ),
  )('by the key %s', (key) => {
    expect(step('press', { key })).toBe(true)
    expect(step('find', { key })).toBe(false)
  })

  it('with an answer below 64 characters, which shows no view', () => {
    expect(step('undo', {}, 'x'.repeat(63))).toBe(true)
    expect(step('undo', {}, 'x'.repeat(64))).toBe(false)
  })

  it.each([
    ['undo_edit', { path: 'a.md' }, 'The last edit is undone.'],
    ['browser_press_key', { key: 'ArrowDown' }, 'Pressed'],
  ])('so %s has twice as many rounds as another call', (tool, args, text) => {
    const done = (name: string, value: Record<string, string>, rounds: number) =>
      actions(...Array.from({ length: rounds }, () => one(name, value, ok(text))))
    expect(done(tool, args, 10).indexOf('nudge')).toBe(9)
    expect(done('browser_press_key', { key: 'Enter' }, 5).indexOf('nudge')).toBe(4)
  })
})
