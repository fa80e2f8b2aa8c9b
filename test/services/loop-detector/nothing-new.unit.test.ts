// Rounds in a row that bring only known calls with known results, and the ladder of failures whose
// errors are new.

import { describe, expect, it } from '@jest/globals'
import {
  actions,
  declared,
  failing,
  judgedBy,
  ok,
  one,
  played,
  policyWith,
  type Step,
  says,
  siblings,
  toolCall,
} from './rounds.ts'

const silence = (count: number) => new Array<string>(count).fill('-')
const page = (name: string) => one('read_page', { name }, ok(`the text of ${name}`))
const pages = (names: string) => [...names].map(page)
const polled: Step = {
  calls: [[toolCall('job', {}), ok('running')]],
  fields: { declarations: [declared('job', { poll: true })] },
}
/** Four known pages, never in a cycle. */
const known = pages('abcd')
const again = pages('badcbdac')

describe('rounds that bring nothing new', () => {
  it('lead to a nudge at the eighth one in a row', () => {
    expect(actions(...known, ...again)).toEqual([...silence(11), 'nudge'])
    expect(played(...known, ...again).at(-1)).toMatchObject({
      rule: 'nothing-new',
      ruleVersion: 4,
      key: 'read_page',
      class: null,
      reason: '8 rounds in a row brought only calls with results that the turn already had',
    })
  })

  it('climb one step for each eight further ones', () => {
    const rest = [...again, ...pages('cadbcabd'), ...pages('bcdadbca')]
    const policy = policyWith({ shadowed: ['identical-success'] })
    const found = actions(...judgedBy(policy, ...known, ...rest)).slice(4)
    expect(found.flatMap((action, at) => (action === '-' ? [] : [[at + 1, action]]))).toEqual([
      [8, 'nudge'],
      [16, 'text_only'],
      [24, 'end'],
    ])
  })

  it.each([
    ['a new page', page('e')],
    ['a new result', one('read_page', { name: 'a' }, ok('other'))],
    ['a poller', polled],
    ['a wait', one('sleep', { seconds: 5 }, ok('slept'))],
  ])('count anew after %s', (_, step) => {
    expect(actions(...known, ...again.slice(0, 7), step, page('b'))).toEqual(silence(13))
  })

  it('go on over texts and over failures that may clear', () => {
    const busy = one('fetch', {}, failing('HTTP 503'))
    const steps = [busy, ...known, ...again.slice(0, 4), busy, says('Hm.'), ...again.slice(4)]
    expect(actions(...steps)).toEqual([...silence(14), 'nudge'])
  })

  it('need a second call, because one alone has other rules', () => {
    const steps = Array.from({ length: 9 }, () => page('a'))
    const policy = policyWith({ shadowed: ['identical-success'] })
    expect(actions(...judgedBy(policy, ...steps))).toEqual(silence(9))
  })

  it('need every call of a round to be known', () => {
    const pair = (n: number) =>
      siblings(['read_page', { name: 'a' }, ok('x')], ['read_page', { n }, ok(`new ${n}`)])
    expect(actions(...Array.from({ length: 12 }, (_, n) => pair(n)))).toEqual(silence(12))
  })
})

describe('a streak of failures that are alike', () => {
  /** One first line, and another explanation below it. */
  const fails = (n: number, more: string) =>
    one('solve', { step: n }, failing(`no solution for this model\n${more}`))

  it('gets a nudge in each third round while each call and each whole error is new', () => {
    const steps = ['left', 'right', 'above', 'below', 'inside', 'outside', 'beside', 'under']
    const more = ['over', 'near', 'far']
    expect(actions(...[...steps, ...more].map((word, n) => fails(n, `it lies ${word}`)))).toEqual([
      ...silence(3),
      ...['nudge', '-', '-', 'nudge', '-', '-', 'nudge', '-'],
    ])
  })

  it('climbs where a whole error occurs again', () => {
    const words = ['left', 'right', 'above', 'below', 'left', 'inside', 'left']
    expect(actions(...words.map((word, n) => fails(n, `it lies ${word}`)))).toEqual([
      ...silence(3),
      'nudge',
      'text_only',
      '-',
      'end',
    ])
  })

  it('climbs where a call occurs again with a new error', () => {
    const steps = [0, 1, 2, 3, 1].map((n, at) => fails(n, `case ${'abcde'[at]}`))
    expect(actions(...steps)).toEqual([...silence(3), 'nudge', 'text_only'])
  })

  it('climbs where the errors differ only in the values of the call', () => {
    const denied = (path: string) => one('open', { path }, failing(`permission denied: ${path}`))
    expect(actions(...['/aaa', '/bbb', '/ccc', '/ddd', '/eee'].map(denied))).toEqual([
      ...silence(3),
      'nudge',
      'text_only',
    ])
  })

  const shapeError = 'InputValidationError: Bash failed due to the following issues:'

  it('climbs where wrong shapes differ only in the names of members that the call invented', () => {
    const wrong = (name: string) =>
      one(
        'Bash',
        { [name]: 1 },
        failing(`${shapeError}\nThe required parameter is missing\nAn unexpected one: ${name}`),
      )
    expect(actions(...['wrong1', 'wrong2', 'other', 'more'].map(wrong))).toEqual([
      ...silence(2),
      'nudge',
      'text_only',
    ])
  })

  it('does not climb where the wrong shapes are about members that the call does not have', () => {
    const wrong = (word: string, at: number) =>
      one(
        'Bash',
        { [`wrong${at}`]: 1 },
        failing(`${shapeError}\nThe required parameter is missing\nSee the chapter: ${word}`),
      )
    expect(actions(...['left', 'right', 'above', 'below'].map(wrong))).toEqual([
      ...silence(2),
      'nudge',
      '-',
    ])
  })
})

describe('one dead service', () => {
  const dead = (tool: string, n: number, error = 'connect ECONNREFUSED 10.0.0.9:5432') =>
    one(tool, { n }, failing(error))
  const tools = ['get_user', 'get_order', 'get_cart']
  const rounds = (count: number, error?: string) =>
    Array.from({ length: count }, (_, n) => dead(tools[n % 3] ?? '', n, error))

  it('is a loop at the tenth failure through any of its tools', () => {
    expect(actions(...rounds(10))).toEqual([...silence(9), 'nudge'])
  })

  it('is a loop at the sixth failure if it refuses the right', () => {
    const error = '403 Forbidden: api.shop.test needs a token'
    expect(actions(...rounds(6, error))).toEqual([...silence(5), 'nudge'])
    expect(played(...rounds(6, error)).at(-1)?.reason).toBe(
      `3 tools or programs failed alike in 6 rounds: ${error}`,
    )
  })

  it('counts anew after a success of one of its tools', () => {
    const works = one('get_user', { n: 0 }, ok('ann'))
    expect(actions(works, ...rounds(5), works, ...rounds(5))).toEqual(silence(12))
  })

  it('is no service if the error names none', () => {
    expect(actions(...rounds(6, 'not allowed here'))).toEqual(silence(6))
  })
})
