// The parts of calls and results that get new names with each call, at their exact bounds.

import { describe, expect, it } from '@jest/globals'
import type { CallEvidence } from '../../../../services/loop-detector/evidence/call-evidence.ts'
import { operationOf } from '../../../../services/loop-detector/evidence/effect.ts'
import { masked } from '../../../../services/loop-detector/evidence/mask.ts'
import { withoutRandom } from '../../../../services/loop-detector/evidence/random-suffix.ts'
import {
  withoutSentStates,
  withoutStates,
} from '../../../../services/loop-detector/meaning/lap-state.ts'
import {
  onKnownPlace,
  type Place,
} from '../../../../services/loop-detector/meaning/place-on-screen.ts'
import { reportedFailure } from '../../../../services/loop-detector/meaning/reported-failure.ts'
import { withoutInventedNames } from '../../../../services/loop-detector/meaning/sql.ts'
import { wordingOf } from '../../../../services/loop-detector/meaning/wording.ts'
import { actions, failing, ok, one } from '../rounds.ts'

describe('a click on a known place', () => {
  const click = (x: number, y: number, fields: Record<string, unknown> = {}) => {
    const value: Record<string, unknown> = { x: 1_000 + x, y, ...fields }
    return {
      tool: 'click_at',
      key: `${x} ${y}`,
      result: 'r',
      text: '',
      value,
      raw: JSON.stringify(value),
    }
  }
  const keyOf = (places: Place[], call: ReturnType<typeof click>) =>
    onKnownPlace(places, call as unknown as CallEvidence).key

  it('has the key of the first one, up to eight pixels away in each direction', () => {
    const places: Place[] = []
    expect(keyOf(places, click(100, 50))).toBe('100 50')
    expect(keyOf(places, click(108, 42))).toBe('100 50')
    expect(keyOf(places, click(109, 50))).toBe('109 50')
    expect(keyOf(places, click(100, 59))).toBe('100 59')
  })

  it('is the same up to twenty pixels away if the whole view stayed the same', () => {
    const view = (x: number, length: number, result = 'r') => ({
      ...click(x, 50),
      text: 'x'.repeat(length),
      result,
    })
    const places: Place[] = []
    expect(keyOf(places, view(100, 64))).toBe('100 50')
    expect(keyOf(places, view(120, 64))).toBe('100 50')
    expect(keyOf(places, view(121, 64))).toBe('121 50')
    expect(keyOf(places, view(110, 63))).toBe('110 50')
    expect(keyOf(places, view(80, 64, 'another view'))).toBe('80 50')
  })

  it('is another one with another button or tool, and with ids beyond the safe integers', () => {
    const places: Place[] = []
    const big: Record<string, unknown> = { x: 1_004, y: 1, id: 2n ** 60n }
    expect(keyOf(places, click(1, 1))).toBe('1 1')
    expect(keyOf(places, click(2, 1, { button: 'right' }))).toBe('2 1')
    expect(keyOf(places, { ...click(3, 1), tool: 'hover_at' })).toBe('3 1')
    expect(keyOf(places, click(5, 1, { style: { color: 'red' } }))).toBe('5 1')
    expect(keyOf(places, click(6, 1, { style: { color: 'blue' } }))).toBe('6 1')
    expect(keyOf(places, click(7, 1, { style: { color: 'blue' } }))).toBe('6 1')
    expect(keyOf(places, click(8, 1, { style: { toString: 1 } }))).toBe('8 1')
    expect(keyOf(places, { ...click(4, 1), value: big })).toBe('4 1')
  })

  it('is forgotten after 32 other places, and read in at most 512 characters', () => {
    const places: Place[] = []
    for (let n = 0; n < 32; n += 1) keyOf(places, click(n * 20, 0))
    expect(keyOf(places, click(1, 0))).toBe('0 0')
    keyOf(places, click(32 * 20, 0))
    expect(keyOf(places, click(2, 0))).toBe('2 0')
    const padded = (x: number, length: number) => ({
      ...click(x, 90),
      raw: click(x, 90).raw.padEnd(length),
    })
    expect(keyOf(places, padded(5, 512))).toBe('5 90')
    expect(keyOf(places, padded(6, 512))).toBe('5 90')
    expect(keyOf(places, padded(6, 513))).toBe('6 90')
  })

  it.each([
    [{ coordinate: [7, 109] }, { coordinate: [8, 109] }],
    [{ coordinates: [7, 109] }, { coordinates: [8, 109] }],
    [{ position: { x: 7, y: 109 } }, { position: { x: 8, y: 109 } }],
    [{ point: { x: 7, y: 109 } }, { point: { x: 8, y: 109 } }],
  ])('is read in %j', (one, other) => {
    const places: Place[] = []
    const call = (value: Record<string, unknown>) => ({
      ...click(0, 0),
      value,
      raw: JSON.stringify(value),
    })
    keyOf(places, { ...call(one), key: 'first' } as never)
    expect(keyOf(places, { ...call(other), key: 'second' } as never)).toBe('first')
  })
})

describe('the wording of a search', () => {
  it.each(
    'query q search search_query search_term search_text term terms keyword keywords text prompt question'.split(
      ' ',
    ),
  )('is a question in %s', (name) =>
    expect(wordingOf({ [name]: 'a', other: 'b' })).toBe('question'),
  )

  it.each(['pattern', 'regex', 'glob'])('is a pattern in %s', (name) =>
    expect(wordingOf({ [name]: 'retryLimit', path: 'src' })).toEqual({ words: ['retr', 'limi'] }),
  )

  it('is the quoted text of a command, otherwise its first argument', () => {
    expect(wordingOf({ command: 'grep -rn "retries" src' })).toEqual({ words: ['retr'] })
    expect(wordingOf({ command: "find . -name '*3dview*'" })).toEqual({ words: ['3dvi'] })
    expect(wordingOf({ command: 'grep -rn retries src' })).toEqual({ words: ['retr'] })
  })

  it('is none in a date or in several fields, and has at most 512 characters', () => {
    expect(wordingOf({ date: '2026-12-01' })).toBe('fields')
    expect(wordingOf({ from: 'BER', to: 'LIM' })).toBe('fields')
    expect(wordingOf({ pattern: `${' '.repeat(509)}abc` })).toEqual({ words: ['abc'] })
    expect(wordingOf({ pattern: `${' '.repeat(510)}abc` })).toEqual({ words: ['ab'] })
  })
})

describe('the wording of a statement', () => {
  it('is its quoted texts, about its tables', () => {
    const sql = "SELECT * FROM users u JOIN app.teams t ON true WHERE u.name LIKE '%Ada Lee%'"
    expect(wordingOf({ sql })).toEqual({ words: ['ada', 'lee'], about: 'users app.teams' })
    expect(wordingOf({ sql: 'SELECT 1' })).toEqual({ words: [], about: '' })
  })
})

describe('a name that is new by its nature', () => {
  it.each(['api-7d9f8b6c5d-lq2vw', 'api-7d9f8b6c5d-kqzpm', 'job-x7k2p', 'web-run-3k8w2a1z5q7m'])(
    'is the random suffix of %s',
    (name) => expect(withoutRandom(name)).not.toBe(name),
  )
  it.each(['api-gateway-test2', 'up-front', 'backup-2026', 'node-v2', 'index-html', 'a-24567'])(
    'is none in %s',
    (name) => expect(withoutRandom(name)).toBe(name),
  )
  it('is a reference on a page in results', () => {
    expect(masked('- button "Pay" [ref=s3e12]')).toBe('- button "Pay" [ref=<*>]')
    expect(masked('uid=4_12 button "Pay"')).toBe('uid=<*> button "Pay"')
    expect(masked('ref=main uid=1000')).toBe('ref=main uid=1000')
  })

  it('is a redirect in arguments, also percent-encoded, and a port only with its server', () => {
    const sent = (text: string, own: string[] = []) =>
      withoutSentStates(text, new Map(), { own, page: { references: [], round: 0 } }).text
    expect(sent('{"redirect_uri":"http://localhost:8123/cb"}')).toContain(':<state>/cb')
    expect(sent('redirect_uri=http%3A%2F%2F127.0.0.1%3A8123%2Fcb')).toContain(':<state>/cb')
    expect(sent('redirect_uri=http%253A%252F%252Flocalhost%253A8123')).toContain(':<state>')
    expect(sent('curl localhost:8123')).toContain('8123')
    expect(sent('npm run dev -- --port 8123')).toContain('8123')
    expect(sent('npm run dev -- --port 8123', ['8123'])).toContain('<state>')
    expect(withoutStates('uri=http%3A%2F%2Flocalhost%3A8123').states).toEqual(['8123'])
  })

  it('is a reference in arguments by its place on the newest page', () => {
    const page = { references: ['e5', 'e17'], round: 3 }
    const sent = (text: string) => withoutSentStates(text, new Map(), { own: [], page })
    expect(sent('{"ref":"e17"}')).toEqual({ text: '{"ref":"<reference 1>"}', oldest: 3 })
    expect(sent('{"ref":"e18"}').text).toBe('{"ref":"e18"}')
  })
})

describe('a reference that names no element of a page', () => {
  const long =
    'The request was accepted, and the answer has the same sixty-four characters each time.'
  it.each([
    ['add_label', (n: number) => ({ uid: `user-${n}`, label: 'vip' })],
    ['dispatch_workflow', (n: number) => ({ ref: `release/${n}`, description: 'deploy' })],
    ['get_status', (n: number) => ({ ref: `${n}`.padStart(40, 'ab1c'), description: 'ci' })],
  ])('keeps the calls of %s apart', (name, argumentsOf) => {
    const steps = Array.from({ length: 14 }, (_, n) => one(name, argumentsOf(n), ok(long)))
    expect(actions(...steps)).toEqual(new Array(14).fill('-'))
  })
})

describe('a cell of a board or a picture', () => {
  const sweep = (name: string, step: (n: number) => Record<string, unknown>, answer: string) =>
    actions(...Array.from({ length: 12 }, (_, n) => one(name, step(n), ok(answer))))

  it.each([
    ['set_pixel', { color: 'red' }, 'ok'],
    ['fire', {}, 'miss'],
    ['get_cell', {}, '.'],
    ['click_cell', {}, 'clear'],
  ])('is another call of %s at each step', (name, rest, answer) => {
    expect(sweep(name, (n) => ({ x: n % 8, y: Math.floor(n / 8), ...rest }), answer)).toEqual(
      new Array(12).fill('-'),
    )
  })

  it('is another pixel of a large picture, because the tool is no pointer', () => {
    expect(sweep('draw_point', (n) => ({ x: 400 + n, y: 300, color: 'red' }), 'ok')).toEqual(
      new Array(12).fill('-'),
    )
  })
})

describe('a click in ever new snapshots', () => {
  const page = 'Page "Cart", button "Pay", link "Back", link "Help", link "Imprint", end'
  const clicks = (refOf: (n: number) => string) =>
    actions(...Array.from({ length: 8 }, (_, n) => one('click', { ref: refOf(n) }, ok(page)))).at(
      -1,
    )

  it('is one call by the number of its element', () => {
    expect(clicks((n) => `s${n}e12`)).toBe('nudge')
    expect(clicks((n) => `${n}_12`)).toBe('nudge')
    expect(clicks((n) => `4_${n}`)).toBe('-')
    expect(clicks((n) => `e${n}`)).toBe('-')
  })
})

describe('a statement', () => {
  const effect = (tool: string, value: unknown) => operationOf(tool, value).effect

  it.each([
    ['execute_sql', { query: 'SELECT 1' }],
    ['run', { sql: 'WITH a AS (SELECT 1) SELECT * FROM a' }],
    ['execute_sql', { query: 'show tables' }],
    ['Bash', { command: 'psql shop -c "SELECT a FROM b WHERE c > 5;"' }],
    ['Bash', { command: "sqlite3 a.db '.tables'" }],
    ['Bash', { command: 'pip3 show torch' }],
    ['Bash', { command: 'python3 -m pip list' }],
    ['Bash', { command: 'docker compose ps' }],
    ['Bash', { command: 'node --version' }],
    ['Bash', { command: 'command -v nvcc' }],
  ])('of %s %j only reads', (tool, value) => expect(effect(tool, value)).toBe('reads'))

  it.each([
    ['query', { sql: 'DELETE FROM a' }],
    ['execute_sql', { query: 'WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a' }],
    ['execute_sql', { query: "SELECT nextval('s')" }],
    ['Bash', { command: 'psql shop -c "UPDATE a SET b = 1"' }],
    ['Bash', { command: 'psql shop -c "SELECT 1" -f change.sql' }],
    ['Bash', { command: 'pip install torch' }],
    ['Bash', { command: 'python3 -m pytest' }],
  ])('of %s %j may change something', (tool, value) => expect(effect(tool, value)).toBe('changes'))

  it('loses invented names and places of an error, which the arguments have', () => {
    const raw = 'SELECT o.sum FROM orders'
    expect(withoutInventedNames('no such column: o.sum at line 2', raw)).toEqual({
      error: 'no such column: <name> <place>',
      names: ['o.sum'],
    })
    expect(withoutInventedNames('no such column: o.total', raw)).toBeUndefined()
    expect(withoutInventedNames('column o.sum must not be null', raw)).toBeUndefined()
    expect(withoutInventedNames('no such column: sum', '{"column":"sum"}')).toBeUndefined()
  })
})

describe('a result without news', () => {
  it('is a reported failure by its exit code, if it explains one and the command does not only read', () => {
    const reported = (text: string, effect: 'reads' | 'changes' = 'changes') =>
      reportedFailure('Bash', { command: 'make a' }, { effect, text })?.error
    expect(reported('Exit code: 2\nno space left')).toBe('no space left')
    expect(reported('no space left\nmake: *** [a] exit status 1')).toContain('no space left')
    expect(reported('{"exit_code":2,"stdout":"","stderr":"no space left"}')).toBe('no space left')
    expect(reported('{"exit_code":0,"stdout":"no space left"}')).toBeUndefined()
    expect(reported('{"returncode":1,"stdout":""}')).toBeUndefined()
    expect(reported('Exit code: 2')).toBeUndefined()
    expect(reported('Exit code: 0\nfine')).toBeUndefined()
    expect(reported('< a\nExit code: 1', 'reads')).toBeUndefined()
  })

  it.each([
    ['kill', (n: number) => one('Bash', { command: `kill -9 ${4100 + n}` }, ok(''))],
    ['INSERT 0 0', (n: number) => one('save', { id: n }, ok('INSERT 0 0'))],
    ['0 rows affected', (n: number) => one('save', { id: n }, ok('Query OK, 0 rows affected'))],
    ['taskkill', (n: number) => one('Bash', { command: `taskkill /F /PID ${4100 + n}` }, ok(''))],
    ['a row count', (n: number) => one('save', { id: n }, ok('{"command":"X","rowCount":0}'))],
  ])('is %s between equal failures', (_, change) => {
    const fails = one('login', { user: 'a' }, failing('the role is missing'))
    expect(actions(change(1), fails, change(2), fails, change(3), fails).at(-1)).toBe('nudge')
  })

  it.each([
    ['another row', (n: number) => one('save', { id: n }, ok('INSERT 0 1'))],
    [
      'a new table',
      (n: number) => one('save', { sql: `create table t${n}` }, ok('Query OK, 0 rows affected')),
    ],
  ])('is not %s', (_, change) => {
    const fails = one('login', { user: 'a' }, failing('the role is missing'))
    expect(actions(change(1), fails, change(2), fails, change(3), fails).at(-1)).toBe('-')
  })
})
