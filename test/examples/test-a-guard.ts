import assert from 'node:assert/strict'
import { given } from '../../client/testing/testing.ts'
import type { Guard } from '../../client/weir.ts'

const guard: Guard<number> = {
  name: 'once',
  version: '1',
  tools: ['pay_*'],
  deadlineMs: 500,
  onTimeout: 'deny',
  judge: (paid = 0, { calls }) => ({
    state: paid + calls.length,
    verdicts: calls.map(({ ordinal }) =>
      paid === 0
        ? { ordinal, verdict: 'allow' }
        : { ordinal, verdict: 'deny', code: 'again', text: 'It is paid.' },
    ),
  }),
}

const once = given(guard, [{ name: 'pay_invoice', arguments: { amount: 5 } }])
assert.deepEqual(once.verdicts, [{ ordinal: 0, verdict: 'allow' }])
const again = once.when({ calls: [{ name: 'pay_invoice' }], at: '2026-11-20T09:00:00Z' })
assert.equal(again.verdicts[0]?.verdict, 'deny')
