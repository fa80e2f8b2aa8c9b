import { describe, expect, it } from '@jest/globals'
import { failoverWarning } from '../../../../apps/service/guards/failover.ts'

const onKafka = { bus: 'kafka', sessionTimeoutMs: 10_000 } as const
const guard = (deadlineMs: number, onTimeout: 'deny' | 'allow' = 'deny') => ({
  name: 'shell',
  deadlineMs,
  onTimeout,
})

describe('the deadline of a guard', () => {
  it('that is shorter than a failover gives a warning with both times and the remedy', () => {
    expect(failoverWarning(guard(1_000), onKafka)).toBe(
      'the deadline of shell is 1000 ms, and a failover needs about 15000 ms: while it enforces, the calls after a failure of its process are denied. Raise the deadline, or lower --session-timeout-ms (WEIR_SESSION_TIMEOUT_MS)',
    )
    expect(failoverWarning(guard(1_000, 'allow'), onKafka)).toContain('run without its verdict')
  })

  it.each([
    [guard(15_000), onKafka],
    [guard(11_000), { ...onKafka, sessionTimeoutMs: 6_000 }],
    [guard(1_000), { bus: 'embedded', sessionTimeoutMs: 10_000 } as const],
  ])('that outlasts a failover, or has none, gives no warning: %p', (given, settings) => {
    expect(failoverWarning(given, settings)).toBeUndefined()
  })

  it('that is one millisecond too short gives one', () => {
    expect(failoverWarning(guard(14_999), onKafka)).toBeDefined()
  })
})
