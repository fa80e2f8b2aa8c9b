// The list of rules: the parts of each record next to its judgement.

import { describe, expect, it } from '@jest/globals'
import { rules } from '../../../services/loop-detector/rules.ts'
import { thresholds } from '../../../shared/contract/thresholds.ts'

describe('the list of rules', () => {
  it('gives each rule a unique name in the form of a key', () => {
    const names = rules.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([])
  })

  it('uses every threshold and no unknown one', () => {
    const used = new Set(rules.flatMap((rule) => rule.thresholds))
    const known = Object.entries(thresholds).flatMap(([section, all]) =>
      Object.keys(all).map((name) => `${section}.${name}`),
    )
    expect([...used].sort()).toEqual(known.sort())
  })
})
