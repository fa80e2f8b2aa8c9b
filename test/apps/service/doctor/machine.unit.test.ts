import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { clockCheck, nodeCheck, nodeMinimum } from '../../../../apps/service/doctor/machine.ts'

describe('the doctor looks at Node.js', () => {
  it('and wants what package.json says', () => {
    const { engines } = JSON.parse(
      readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
    )
    expect(engines.node).toBe(`>=${nodeMinimum.major}.${nodeMinimum.minor}`)
  })

  it.each([
    ['24.21.0', 'ok'],
    ['22.18.0', 'ok'],
    ['22.17.1', 'wrong'],
    ['20.19.0', 'wrong'],
  ])('%s is %s', (version, state) => {
    expect(nodeCheck(version).state).toBe(state)
  })
})

describe('the doctor looks at the clock', () => {
  const now = Date.UTC(2027, 0, 1)

  it.each([
    ['a good one and a new log', now, undefined, 'ok'],
    ['a good one and an older log', now, now - 1_000_000, 'ok'],
    ['one that was set right by a moment', now, now + 1_000, 'ok'],
    ['one behind the newest record', now, now + 3_600_000, 'wrong'],
    ['one that begins in 1970', 1_000, undefined, 'wrong'],
  ])('%s', (_, time, newest, state) => {
    expect(clockCheck(time, newest).state).toBe(state)
  })
})
