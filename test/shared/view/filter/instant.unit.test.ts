import { describe, expect, it } from '@jest/globals'
import { instantOf } from '../../../../shared/view/filter/instant.ts'

const now = Date.UTC(2026, 6, 29, 12, 0, 0)

describe('a time on the command line', () => {
  it.each([
    ['2026-07-29T10:12:03Z', Date.UTC(2026, 6, 29, 10, 12, 3)],
    ['2026-07-29T10:12:03.045Z', Date.UTC(2026, 6, 29, 10, 12, 3, 45)],
    ['2026-07-29 10:12:03.123 UTC'.replace(' UTC', 'Z'), Date.UTC(2026, 6, 29, 10, 12, 3, 123)],
    ['2026-07-29T12:12+02:00', Date.UTC(2026, 6, 29, 10, 12)],
    ['2026-07-29', Date.UTC(2026, 6, 29)],
    ['now', now],
    ['10m ago', now - 600_000],
    ['1.5h ago', now - 5_400_000],
    ['90 s ago', now - 90_000],
    ['2d ago', now - 172_800_000],
  ])('can be %s', (text, time) => {
    expect(instantOf(text, now)).toBe(time)
  })

  it.each([
    '',
    'yesterday',
    '10m',
    '2026-13-01',
    '2026-07-29T25:00Z',
    '12',
    '-5m ago',
    '10y ago',
    '2026-07-29T10:12:03Zx',
  ])('cannot be %j', (text) => {
    expect(instantOf(text, now)).toBeUndefined()
  })
})
