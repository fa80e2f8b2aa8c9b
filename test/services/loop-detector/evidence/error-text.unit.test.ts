// The text that identifies a failure, the random suffixes of names, and the operation of a call.

import { describe, expect, it } from '@jest/globals'
import { operationOf } from '../../../../services/loop-detector/evidence/effect.ts'
import { errorOf } from '../../../../services/loop-detector/evidence/error-text.ts'
import {
  randomWordsIn,
  withoutRandom,
} from '../../../../services/loop-detector/evidence/random-suffix.ts'
import { withoutMessageId } from '../../../../services/loop-detector/evidence/stamp.ts'
import { failing } from '../rounds.ts'

const errorIn = (text: string) => errorOf(failing(text)).error
const kindIn = (text: string) => errorOf(failing(text)).kind

describe('the text of a failure', () => {
  it.each([
    ['Build failed.\nNote: x\n - E999 IndentationError: a', '- E999 IndentationError: a'],
    ['It broke.\nsrc/a.c:1:2: error: expected ;', 'src/a.c:1:2: error: expected ;'],
    ['It broke.\nerror[E0308]: mismatched types', 'error[E0308]: mismatched types'],
    [
      'It broke.\nlib/a.ts(1,2): error TS2304: Cannot find',
      'lib/a.ts(1,2): error TS2304: Cannot find',
    ],
    ['It broke.\nFAILED tests/a.py::b', 'FAILED tests/a.py::b'],
    ['It broke.\njava.io.IOException', 'java.io.IOException'],
    ['It broke.\nF821 undefined name', 'F821 undefined name'],
  ])('has the first line that names an error: %j', (text, line) => {
    expect(errorIn(text)).toBe(`${text.split('\n')[0]}\n${line}`)
  })

  it.each([
    ['KeyError: name\nValueError: other', 'KeyError: name'],
    ['permission denied\nKeyError: name', 'permission denied'],
    ['It broke.\nAn error occurred\nERRORS:\n2 errors', 'It broke.'],
    ['exit code 1\nIts output:\nrow 7', 'row 7'],
  ])('has no further line: %j', (text, error) => expect(errorIn(text)).toBe(error))

  it('goes on after a colon', () => {
    expect(errorIn('Exception: status is 422:\n{"message":"too long"}')).toBe(
      'Exception: status is 422:\n{"message":"too long"}',
    )
    expect(errorIn('It broke.\nException: status is 422:\n\ntoo long')).toBe(
      'It broke.\nException: status is 422:\ntoo long',
    )
  })

  it.each([
    ['{"exit_code":1,"stdout":"","stderr":""}', ''],
    ['{"returncode": 2}', ''],
    ['{"status":"error","code":3}', ''],
    ['{"exit_code":1,"stderr":"disk is gone"}', 'disk is gone'],
    ['{"ok":false,"request":"r1","error":{"message":"closed"}}', 'closed'],
    ['{"status":404,"path":"/a"}', 'status: 404\n/a'],
    ['[{"msg":"first"},{"msg":"second"}]', 'first\nsecond'],
    ['{\n  "error": "closed"\n}', 'closed'],
    [`{"log":"${'x'.repeat(600)}","end":"ValueError: bad"}`, `${'x'.repeat(512)}\nValueError: bad`],
  ])('is read from JSON: %j', (text, error) => expect(errorIn(text)).toBe(error))

  it.each([
    ['{"exit_code":1}', 'bare'],
    ['{"timed_out": true}', 'transient'],
    ['{"timed_out": false, "error": "gone"}', 'other'],
    ['Unknown command: fly', 'unknown_tool'],
    ["'ls' is not recognized as an internal or external command", 'unknown_tool'],
    ["git: 'x' is not a git command", 'unknown_tool'],
    ['this is not allowed in this action', 'denied'],
    ['bash: rg: command not found', 'other'],
    ['No users found with this name', 'miss'],
    ['Exception: Response status code is 401:\nlog in', 'denied'],
  ])('has the kind: %j %s', (text, kind) => expect(kindIn(text)).toBe(kind))

  it('is the short reason alone for a denial', () => {
    expect(errorOf({ ...failing('It broke.\nKeyError: a'), status: 'denied' }).error).toBe(
      'It broke.',
    )
  })

  it('takes linear time for hostile output', () => {
    const hostile = [
      'error'.repeat(10_000),
      'A'.repeat(50_000),
      '- '.repeat(20_000),
      '{"'.repeat(9_000),
    ]
    for (const text of hostile) expect(errorIn(`It broke.\n${text}`).length).toBeGreaterThan(0)
  })
})

describe('a random suffix', () => {
  it.each([
    ['backup-x7f3k2', 'backup-'],
    ['run_b4t6w0.csv', 'run_.csv'],
    ['run-x7f3', 'run-'],
    ['t-b81c', 't-'],
    ['3f2b8c1a-77d1-4e5f-9a0b-1c4d5e6f7a8b', ''],
  ])('is left out: %s', (name, plain) => expect(withoutRandom(name)).toBe(plain))

  it.each(['web-db12', 'report-2024q1', 'app-v2beta1', 'out-17', 'photos', 'fix-h264'])(
    'is not part of a chosen name: %s',
    (name) => expect(withoutRandom(name)).toBe(name),
  )

  it('is found within a longer path if the error has one', () => {
    expect(randomWordsIn(['/srv/run-x7f3k2/all.csv'], 'cannot lock run-x7f3k2')).toEqual([
      'run-x7f3k2',
    ])
    expect(randomWordsIn(['/srv/run-x7f3k2/all.csv'], 'no')).toEqual([])
  })
})

describe('the operation of a call', () => {
  const shell = (command: string) => operationOf('bash', { command }).operation
  it.each([
    ['python a.py', 'python b.py'],
    ['python3 -m pytest', 'python3 -m json.tool'],
    ['python -c "a()"', 'python -c "b()"'],
    ['git push origin', 'git status'],
    ['npm run build', 'npm run lint'],
    ['make all', 'make clean'],
    ['docker compose up', 'docker compose ps'],
  ])('differs: %s, %s', (one, other) => expect(shell(one)).not.toBe(shell(other)))

  it.each([
    ['python a.py --n 1', 'python a.py --n 2'],
    ['python -u a.py', 'python a.py'],
    ['cat a', 'cat b'],
    ['git push origin', 'git push -f'],
    ['make V=1 all', 'make all'],
  ])('is the same: %s, %s', (one, other) => expect(shell(one)).toBe(shell(other)))

  it('is the call itself if the tool passes a text on', () => {
    expect(operationOf('send', { text: 'ls' }).operation).toBeUndefined()
    expect(operationOf('write_stdin', { chars: 'ls' }).operation).toBeUndefined()
    expect(operationOf('read_file', { path: 'a' }).operation).toBe('read_file')
  })

  it.each([
    ['str_replace_editor', { command: 'view' }, 'reads'],
    ['str_replace_editor', { command: 'create' }, 'changes'],
    ['http_request', { method: 'GET' }, 'reads'],
    ['http_request', { method: 'POST' }, 'changes'],
    ['browser', { action: 'wait' }, 'waits'],
    ['game', { action: 'go north' }, 'opaque'],
    ['sequentialthinking', { thought: 'x' }, 'reads'],
  ])('has the effect that it names: %s %j', (tool, value, effect) => {
    expect(operationOf(tool, value).effect).toBe(effect)
  })
})

describe('a message without its ids', () => {
  const sent = { to: 'ann', text: 'The report is ready.' }
  it('stays the same under another id', () => {
    const one = withoutMessageId({ ...sent, message_id: 'm-1' })
    expect(one?.ids).toEqual(['m-1'])
    expect(withoutMessageId({ message_id: 'm-2', ...sent })?.text).toBe(one?.text)
    expect(withoutMessageId({ ...sent, uuid: 7 })?.ids).toEqual(['7'])
  })

  it.each([
    ['no recipient', { id: 1, text: sent.text }],
    ['no text', { id: 1, to: 'ann', state: 'open' }],
    ['no id', sent],
    ['only the id of a recipient', { ...sent, user_id: 7 }],
    ['no object', [sent]],
  ])('is none with %s', (_, value) => expect(withoutMessageId(value)).toBeUndefined())
})
