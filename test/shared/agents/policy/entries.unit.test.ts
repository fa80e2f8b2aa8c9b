import { describe, expect, it } from '@jest/globals'
import { policyKey, unknownKey } from '../../../../shared/agents/policy/entries.ts'

describe('the key of a threshold', () => {
  it.each([
    ['loop.identicalFailure', 'loop.identicalFailures'],
    ['loop.identicalSuccess', 'loop.identicalSuccesses'],
    ['caps.round', 'caps.rounds'],
    ['caps.wallMs', 'caps.wallMs'],
  ])('%s is %s', (given, key) => {
    expect(policyKey(given)).toBe(key)
  })

  it.each([
    'loop.identicalFailur',
    'loop.identicalSuccesse',
    'caps.wallM',
    'rule.same-answ',
    'rule.identical-succes',
  ])('%s is invalid, although its prefix is valid', (given) => {
    expect(policyKey(given)).toBe(undefined)
  })
})

describe('an unknown key', () => {
  it.each([
    [
      'loop.identicalFailur',
      'names no threshold; did you mean loop.identicalFailures? There are loop.identicalFailures, ',
    ],
    [
      'caps.wallTimeMs',
      'names no threshold; did you mean caps.wallMs? There are loop.identicalFailures, ',
    ],
    [
      'empty.retries',
      'names no threshold; there are empty.beforeTools, empty.afterTools and empty.perTurn',
    ],
    ['retries', 'names no threshold; there are loop.identicalFailures, '],
    ['loop.rules.cycel', 'names no rule; did you mean rule.cycle? There are rule.identical-'],
    ['loop.rule.cycle', 'names no rule; did you mean rule.cycle? There are rule.identical-'],
    ['rules.same-anser', 'names no rule; did you mean rule.same-answer? There are '],
    ['loop.rulez', 'names no rule; there are rule.identical-failure, '],
    ['loop.identicalFailure', 'names no threshold; did you mean loop.identicalFailures? There '],
    ['rule.cycel', 'names no rule; did you mean rule.cycle? There are rule.identical-failure, '],
  ])('%s is reported with the nearest names, or with all names of its group', (given, words) => {
    expect(unknownKey(given).slice(0, words.length)).toBe(words)
  })
})
