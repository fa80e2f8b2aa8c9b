import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { clockCheck, nodeCheck, nodeMinimum } from '../../../../apps/service/doctor/machine.ts'

describe('nodeCheck', () => {
  it('needs the version of package.json', () => {
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
  ])('reports %s as %s', (version, state) => {
    expect(nodeCheck(version).state).toBe(state)
  })
})

describe('clockCheck', () => {
  const now = Date.UTC(2027, 0, 1)

  it.each([
    ['a good one and a new log', now, undefined, 'ok'],
    ['a good one and an older log', now, now - 1_000_000, 'ok'],
    ['one that was corrected by a moment', now, now + 1_000, 'ok'],
    ['one behind the newest record', now, now + 3_600_000, 'wrong'],
    ['one that begins in 1970', 1_000, undefined, 'wrong'],
  ])('judges %s', (_, time, newest, state) => {
    expect(clockCheck(time, newest).state).toBe(state)
  })
})
